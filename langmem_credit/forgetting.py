"""The forget rule: a note goes only when the person asked, in this run, for that note to go.

Pure, like the credit rule. The model's query picks the note; the person's typed words must ask for
something to be forgotten and name that note by a word of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from .corrections import corrects
from .forget_requests import Request, find_request, is_request
from .naming import (
    find_sharing,
    is_of_the_world,
    is_shared,
    likely_named,
    names,
    same_source,
    says_exactly,
    says_whole,
)
from .neighbours import find_touching_request, is_too_much
from .notebook import Notebook
from .notes import LIMITS, Limits, Note, Utterance
from .pieces import naming_words, note_words
from .retractions import leads_on
from .spoken import Spoken, read_spoken
from .words import Token, find_quote, split_sentences, strip_final_stop, text_of, tokenize

RULES: dict[str, str] = {
    "empty": "Say which note (query or id) and quote the person's words (said).",
    "no_match": "No note matches the query.",
    "typed": "The quoted words were not typed by the person in this run.",
    "not_asked": "The person's words do not ask for anything to be forgotten.",
    "taken_back": "The person took the request back.",
    "own_voice": "Other words that the person typed may change what the request means.",
    "everything": "That names no single note; the person can forget several by hand.",
    "names_nothing": "The person's words do not plainly ask for this note: all that they name must "
    "stand in it, and no exception or second thought beside it.",
    "shared": "The words that the person names stand in other notes too: ask which one they mean.",
    "ambiguous": "Several notes match equally well; say which by its id.",
    "not_yours": "The note is another person's; only they can forget it.",
}
_READ = 4000  # characters
# Each is held against all notes of the scope.
_MOST_TIED = 20


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
        notebook: the scope's notes. Active ones come first: held-back text can neither take a
            request upon itself nor make a word too common to name an active note.

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
    if not query.strip() or not said.strip():
        return _refuse("empty")
    notes: Sequence[Note] = notebook.active
    best = _find_by_query(query[: limits.query], notes)
    if not best:
        notes = (*notebook.active, *notebook.unconfirmed)
        best = _find_by_query(query[: limits.query], notes)
    closest = best[0].id if best else None
    inputs = [utterance for utterance in heard if utterance.via == "input"]
    asker = inputs[-1].speaker if inputs else None
    typed = [one for one in heard if one.typed and one.speaker == asker]
    if is_too_much(typed):
        return _refuse("own_voice", closest)
    places = [
        index
        for index, utterance in enumerate(typed)
        if len(utterance.text) <= limits.said and find_quote(said, utterance.text)
    ]
    if not places:
        return _refuse("typed", closest)
    verdict = _refuse("not_asked", closest)
    for index in reversed(places):
        request = find_request(typed[index], said)
        if request is None:
            continue
        touched = _find_touching(heard, typed, index, request)
        if touched:
            verdict = _refuse(touched, closest)
            continue
        return _pick(best, request, notes, asker)
    return verdict


def _refuse(rule: str, closest: str | None = None) -> ForgetVerdict:
    return ForgetVerdict(granted=False, rule=rule, reason=RULES[rule], closest=closest)


def _find_touching(
    heard: Sequence[Utterance], typed: Sequence[Utterance], index: int, request: Request
) -> str:
    """The rule that other words of the run break, or "".

    Each other sentence of the message counts as a message of its own. What asks for another thing
    to be forgotten touches nothing.
    """
    before = heard.index(typed[index])
    # "Translate this:" may be a click or a paste.
    if before and leads_on(heard[before - 1]):
        return "own_voice"
    run = [*_sentences(typed[:index]), *_utterances(request.around[0], typed[index])]
    place = len(run)
    run.append(_utterance(request.tokens, typed[index]))
    run += [*_utterances(request.around[1], typed[index]), *_sentences(typed[index + 1 :])]
    touched = find_touching_request(run, place, request.tokens)
    return touched[0] if touched else ""


def _sentences(utterances: Sequence[Utterance]) -> Iterator[Utterance]:
    """Every message, or where one of its sentences is a request, its other sentences."""
    for utterance in utterances:
        others = _beside_requests(utterance.text[:_READ])
        if others is None:
            yield utterance
        else:
            for text in others:
                yield Utterance(utterance.id, text, speaker=utterance.speaker)


# A run of many messages looks at each one from each other one.
@lru_cache(maxsize=1024)
def _beside_requests(text: str) -> tuple[str, ...] | None:
    """The sentences that ask for nothing to be forgotten; None when none of them does."""
    sentences = split_sentences(tokenize(text), strict=True)
    others = [sentence for sentence in sentences if not is_request(sentence)]
    if len(others) == len(sentences):
        return None
    return tuple(text_of(sentence, text) for sentence in others)


def _utterances(sentences: Sequence[Sequence[Token]], utterance: Utterance) -> Iterator[Utterance]:
    return (_utterance(one, utterance) for one in sentences if not is_request(one))


def _utterance(sentence: Sequence[Token], utterance: Utterance) -> Utterance:
    return Utterance(utterance.id, text_of(sentence, utterance.text), speaker=utterance.speaker)


def _pick(
    best: Sequence[Note], request: Request, notes: Sequence[Note], asker: str | None
) -> ForgetVerdict:
    """The one note among the best matches that the request names."""
    spoken = read_spoken(request.said, request.vocabulary)
    own = [note for note in notes if _may_forget(asker, note)]
    likely = _likely(request, spoken, [note for note in best if _may_forget(asker, note)], own)
    if len(likely) > _MOST_TIED:
        return _refuse("ambiguous", likely[0].id)
    named = [note for note in likely if _names(request, spoken, note, own)]
    if not named:
        others = [note for note in best if not _may_forget(asker, note)]
        strange = _likely(request, spoken, others, notes)[:_MOST_TIED]
        strange = [note for note in strange if _names(request, spoken, note, notes)]
        if strange:
            return _refuse("not_yours", strange[0].id)
        nearest = find_sharing(spoken, own)
        closest = nearest or (best[0] if best else None)
        if request.everything:
            return _refuse("everything", closest.id if closest else None)
        shared = [note for note in best[:_MOST_TIED] if _is_shared(request, spoken, note, own)]
        if shared:
            return _refuse("shared", shared[0].id)
        return _refuse("names_nothing" if best else "no_match", closest.id if closest else None)
    note = named[0]
    if not all(same_source(note, other) for other in named):
        return _refuse("ambiguous", note.id)
    return ForgetVerdict(
        granted=True,
        note_id=note.id,
        closest=note.id,
        utterance_id=request.utterance.id,
        span=(request.tokens[0].start, request.tokens[-1].end),
    )


def _may_forget(asker: str | None, note: Note) -> bool:
    """A person forgets their own; a note of nobody in particular is anybody's."""
    return not note.speaker or note.speaker == asker


def _likely(
    request: Request, spoken: Spoken, notes: Sequence[Note], others: Sequence[Note]
) -> Sequence[Note]:
    """The notes that the request may name."""
    return notes if request.ended else likely_named(spoken, notes, others)


def _names(request: Request, spoken: Spoken, note: Note, notes: Sequence[Note]) -> bool:
    if request.ended:
        return corrects(text_of(request.said, request.utterance.text), note, notes)
    return _may_name(request, spoken, note) and names(spoken, note, notes)


def _is_shared(request: Request, spoken: Spoken, note: Note, notes: Sequence[Note]) -> bool:
    """True when only other notes with the same words keep the request from naming this one."""
    if request.ended or note not in notes:
        return False
    return _may_name(request, spoken, note) and is_shared(spoken, note, notes)


def _may_name(request: Request, spoken: Spoken, note: Note) -> bool:
    if request.exact and not says_exactly(spoken, note) and not says_whole(spoken, note):
        return False
    return not (request.by_memory and is_of_the_world(spoken, note))


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
    wanted = naming_words(tokenize(query))
    counts = Counter(word for note in notes for word in note_words(note))
    scores = {
        note.id: sum(1 / counts[word] for word in wanted & note_words(note)) for note in notes
    }
    top = max(scores.values(), default=0)
    return [note for note in notes if top > 0 and scores[note.id] == top]


def _fold_text(text: str) -> str:
    return " ".join(token.low for token in strip_final_stop(tokenize(text)))
