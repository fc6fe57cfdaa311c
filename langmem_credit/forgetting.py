"""The forget rule: a note goes only when the person asked, in this run, for that note to go.

Pure, like the credit rule. The model's query picks the note; the person's typed words must ask for
something to be forgotten and name that note by a word of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from . import languages
from .languages import Language, read_data
from .notebook import Notebook
from .notes import LIMITS, Limits, Note, Utterance
from .voice import find_pasted, is_imagined_or_reported, taken_back
from .words import (
    Phrases,
    Token,
    ends_in_question,
    find_quote,
    quoted_mask,
    split_sentences,
    strip_final_stop,
    tokenize,
)

RULES: dict[str, str] = {
    "empty": "Say which note (query or id) and quote the person's words (said).",
    "no_match": "No note matches the query.",
    "typed": "The quoted words were not typed by the person in this run.",
    "not_asked": "The person's words do not ask for anything to be forgotten.",
    "taken_back": "The person took the request back.",
    "everything": "That names no single note; the person can forget several by hand.",
    "names_nothing": "The person's words do not name this note by a word of its own.",
    "ambiguous": "Several notes match equally well; say which by its id.",
    "not_yours": "The note is another person's; only they can forget it.",
}
# Of the scope's notes, a word may stand in this share and still name one.
_COMMON_SHARE = 0.1


@dataclass(frozen=True, slots=True)
class ForgetVerdict:
    """What the forget rule decided, and why.

    Attributes:
        granted: the note may be withdrawn.
        rule: the part that broke, a key of `RULES`; "" when granted.
        reason: one plain sentence; "" when granted.
        note_id: the note to withdraw, or None.
        closest: id of the note that matches best, also when it stays; None when nothing matches.
        utterance_id: the utterance that asked, or None.
        span: characters [start, end) of the request in that utterance, or None.
    """

    granted: bool
    rule: str = ""
    reason: str = ""
    note_id: str | None = None
    closest: str | None = None
    utterance_id: str | None = None
    span: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class _Request:
    utterance: Utterance
    tokens: Sequence[Token]
    language: Language | None


def judge_forget(
    query: str,
    said: str,
    heard: Sequence[Utterance],
    notebook: Notebook,
    *,
    limits: Limits = LIMITS,
) -> ForgetVerdict:
    """Whether the note that the query finds may be withdrawn.

    Args:
        query: the model's words for the note, or its id.
        said: the words with which the person asked, as the model claims.
        heard: the utterances of this run, oldest first.
        notebook: the scope's notes; those that are live count, unconfirmed ones too.

    >>> from langmem_credit.events import remembered
    >>> from langmem_credit.notebook import fold
    >>> from langmem_credit.notes import Verdict
    >>> book = fold([remembered("Berlin office is shut", Verdict(True), at="2031-01-01T00:00:00Z")])
    >>> heard = [Utterance("u1", "delete the note about the Berlin office")]
    >>> judge_forget("Berlin office", heard[0].text, heard, book).granted
    True
    >>> heard = [Utterance("u1", "don't forget the Berlin office")]
    >>> judge_forget("Berlin office", "forget the Berlin office", heard, book).rule
    'not_asked'
    """
    notes = _live(notebook)
    if not query.strip() or not said.strip():
        return _refuse("empty")
    best = _find_by_query(query[: limits.query], notes)
    closest = best[0].id if best else None
    typed = [utterance for utterance in heard if utterance.typed]
    inputs = [utterance for utterance in heard if utterance.via == "input"]
    asker = inputs[-1].speaker if inputs else None
    typed = [utterance for utterance in typed if utterance.speaker == asker]
    places = [
        index
        for index, utterance in enumerate(typed)
        if len(utterance.text) <= limits.said and find_quote(said, utterance.text)
    ]
    if not places:
        return _refuse("typed", closest)
    verdict = _refuse("not_asked", closest)
    for index in reversed(places):
        request = _find_request(typed[index], said)
        if request is None:
            continue
        if taken_back(request.tokens, typed[index + 1 :]):
            verdict = _refuse("taken_back", closest)
            continue
        return _pick(best, request, notes, asker)
    return verdict


def names_note(text: str, note: Note, notebook: Notebook) -> bool:
    """True when the text holds a word that stands in this note and in few others."""
    return _names(_words(tokenize(text)), note, _live(notebook))


def _live(notebook: Notebook) -> tuple[Note, ...]:
    return (*notebook.active, *notebook.unconfirmed)


def _refuse(rule: str, closest: str | None = None) -> ForgetVerdict:
    return ForgetVerdict(granted=False, rule=rule, reason=RULES[rule], closest=closest)


def _pick(
    best: Sequence[Note], request: _Request, notes: Sequence[Note], asker: str | None
) -> ForgetVerdict:
    """The one note among the best matches that the request names."""
    named_words = _words(request.tokens)
    named = [note for note in best if _names(named_words, note, notes)]
    if not best:
        nearest = [note for note in notes if _names(named_words, note, notes)]
        return _refuse("no_match", nearest[0].id if nearest else None)
    if len(named) > 1:
        return _refuse("ambiguous", named[0].id)
    if not named:
        if request.language and request.language.phrases("forget_everything").found_in(
            request.tokens
        ):
            return _refuse("everything", best[0].id)
        nearest = [note for note in notes if _names(named_words, note, notes)]
        return _refuse("names_nothing", (nearest or best)[0].id)
    note = named[0]
    if note.speaker and asker and note.speaker != asker:
        return _refuse("not_yours", note.id)
    return ForgetVerdict(
        granted=True,
        note_id=note.id,
        closest=note.id,
        utterance_id=request.utterance.id,
        span=(request.tokens[0].start, request.tokens[-1].end),
    )


def _find_by_query(query: str, notes: Sequence[Note]) -> list[Note]:
    """The notes that the query fits best, several when they fit equally well.

    An id or the exact text beats any part; otherwise the rarest shared words win.
    """
    bare = query.strip().strip("[]#()\"' ").lower()
    by_id = [note for note in notes if note.id == bare]
    if by_id:
        return by_id
    folded = _fold_text(query)
    exact = [note for note in notes if _fold_text(note.text) == folded]
    if exact:
        return exact
    wanted = _words(tokenize(query))
    counts = Counter(word for note in notes for word in _note_words(note))
    scores = {
        note.id: sum(1 / counts[word] for word in wanted & _note_words(note)) for note in notes
    }
    top = max(scores.values(), default=0)
    return [note for note in notes if top > 0 and scores[note.id] == top]


def _fold_text(text: str) -> str:
    return " ".join(token.low for token in strip_final_stop(tokenize(text)))


def _names(words: frozenset[str], note: Note, notes: Sequence[Note]) -> bool:
    """True when one of the words stands in the note and in few others."""
    common = max(1, int(len(notes) * _COMMON_SHARE))
    return any(
        sum(word in _note_words(other) for other in notes) <= common
        for word in words & _note_words(note)
    )


def _note_words(note: Note) -> frozenset[str]:
    return _cached_words(note.text) | (_cached_words(note.said) if note.credited else frozenset())


@cache
def _blank_words() -> frozenset[str]:
    """Words that name nothing: function words and words about memory, of every language."""
    blank: set[str] = set()
    for code in languages.CODES:
        language = languages.load(code)
        blank |= language.words("function_words")
        for field in ("forget_memory_words", "forget_verbs", "forget_removers", "forget_openers"):
            for phrase in language.items(field):
                blank.update(_words(tokenize(phrase), keep_all=True))
    return frozenset(blank)


def _words(tokens: Iterable[Token], *, keep_all: bool = False) -> frozenset[str]:
    """The words that can name something; pairs of characters for scripts without spaces."""
    found: set[str] = set()
    last: Token | None = None
    for token in tokens:
        if token.word and len(token.low) == 1 and token.low >= "\u0e00":
            if last is not None and last.end == token.start:
                found.add(last.low + token.low)
            last = token
            continue
        last = None
        if token.word and len(token.low) > 1:
            found.add(token.low)
            if token.low.endswith("'s"):
                found.add(token.low[:-2])
    return frozenset(found if keep_all else found - _blank_words())


_WORD_CACHE: dict[str, frozenset[str]] = {}


def _cached_words(text: str) -> frozenset[str]:
    words = _WORD_CACHE.get(text)
    if words is None:
        if len(_WORD_CACHE) > 20_000:
            _WORD_CACHE.clear()
        words = _WORD_CACHE[text] = _words(tokenize(text))
    return words


def _find_request(utterance: Utterance, said: str) -> _Request | None:
    """The sentence that holds the quote, when it asks for something to be forgotten."""
    if find_pasted(utterance.text):
        return None
    tokens = tokenize(utterance.text)
    language = languages.detect(tokens)
    if language and _blocked(tokens, language.phrases("forget_retractions"), language):
        return None
    quote = find_quote(said, utterance.text)
    for sentence in split_sentences(tokens, strict=True):
        if quote is None or sentence[-1].end <= quote[0] or quote[1] <= sentence[0].start:
            continue
        if _asks_to_forget(sentence, language):
            return _Request(utterance, sentence, language)
    return None


def _blocked(tokens: Sequence[Token], phrases: Phrases, language: Language) -> bool:
    """True when a phrase stands there that does not belong to the request itself."""
    keepers = language.phrases("forget_keepers")
    return any(not keepers.match_at(tokens, index) for index, _ in phrases.find(tokens))


def _asks_to_forget(sentence: Sequence[Token], language: Language | None) -> bool:
    # A short message may be taken for English; verbs of other languages are no English words.
    if language is None or _asks_elsewhere(sentence):
        return _asks_elsewhere(sentence)
    if is_imagined_or_reported(sentence, language):
        return False
    if language.phrases("forget_blockers").found_in(sentence):
        return False
    start, polite = _order_start(sentence, language)
    if ends_in_question(sentence) and not polite:
        return False
    mask = quoted_mask(sentence)
    if start >= len(sentence) or mask[start]:
        return False
    if language.phrases("forget_keepers").match_at(sentence, start):
        return True
    if _denies_request(sentence, start, language):
        return False
    length = language.phrases("forget_verbs").match_at(sentence, start)
    if length:
        return not _is_title_or_idiom(sentence, start, length, language)
    memory = language.phrases("forget_memory_words")
    if language.phrases("forget_removers").match_at(sentence, start):
        return memory.found_in(sentence)
    if _removes_at_end(sentence, language):
        return memory.found_in(sentence)
    if polite:
        # "Kannst du meinen Geburtstag vergessen?"
        words = [token for token in sentence if token.word]
        return language.phrases("forget_verbs_at_end").match_end(words) > 0
    return _is_outdated(sentence, language)


def _denies_request(sentence: Sequence[Token], start: int, language: Language) -> bool:
    """True where the denial follows its verb, as in "vergiss meinen Geburtstag nicht"."""
    denials = language.words("forget_denials")
    for token in sentence[start:]:
        if token.text in ",;:":
            return False
        if token.low in denials:
            return not _is_outdated(sentence, language)
    return False


def _order_start(sentence: Sequence[Token], language: Language) -> tuple[int, bool]:
    """(where the order begins, whether "can you" and the like stand before it)."""
    index, polite = 0, False
    while index < len(sentence):
        length = language.phrases("forget_requests").match_at(sentence, index)
        if length:
            polite = True
        else:
            length = language.phrases("forget_openers").match_at(sentence, index)
        if not length and not sentence[index].word and sentence[index].text not in "\"'`":
            length = 1
        if not length:
            break
        index += length
    return index, polite


def _is_title_or_idiom(
    sentence: Sequence[Token], start: int, length: int, language: Language
) -> bool:
    """True at "forget-me-not" and "Forget Paris is a film"."""
    after = start + length
    if after >= len(sentence):
        return True
    if sentence[after].text == "-" and not sentence[after].gap:
        return True
    if sentence[after].low in language.words("forget_pronouns"):
        # "Forget it, …" drops a subject of talk, not a note.
        return after + 1 == len(sentence) or not sentence[after + 1].word
    if sentence[after].low in language.words("forget_determiners"):
        return False
    return any(token.low in language.words("auxiliaries") for token in sentence[after:])


def _removes_at_end(sentence: Sequence[Token], language: Language) -> bool:
    """True where the verb closes the order ("die Notiz zu Berlin löschen")."""
    last = strip_final_stop(sentence)
    return language.phrases("forget_removers_at_end").match_end(last) > 0


def _is_outdated(sentence: Sequence[Token], language: Language) -> bool:
    """True at "the Berlin note is outdated", not at "it isn't outdated"."""
    if ends_in_question(sentence):
        return False
    for index, _ in language.phrases("forget_outdated").find(sentence):
        before = sentence[index - 1].low if index else ""
        if before not in language.words("negations") and not before.endswith("n't"):
            return True
    return False


@cache
def _elsewhere() -> tuple[tuple[Phrases, Phrases, str], ...]:
    """(verbs, negated forms, "start" or "end") of languages that have no file of their own."""
    data: dict[str, Any] = read_data("forgetting")
    return tuple(
        (Phrases(entry["verbs"]), Phrases(entry["negated"]), entry["at"]) for entry in data.values()
    )


def _asks_elsewhere(sentence: Sequence[Token]) -> bool:
    if ends_in_question(sentence):
        return False
    bare = strip_final_stop(sentence)
    for verbs, negated, place in _elsewhere():
        if negated.found_in(bare):
            return False
        stands = verbs.match_at(bare, 0) if place == "start" else verbs.match_end(bare)
        if stands and stands < len(bare):
            return True
    return False
