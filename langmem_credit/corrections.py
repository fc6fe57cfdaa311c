"""Do the person's words say that a note no longer holds, so that a newer one may take its place.

Pure, and closed like the forget rule: a shared word is no correction, and what is replaced is no
longer shown. Three forms count: the note's own words "no longer"; the same statement with another
word in the place of the one that is denied ("fish, not zsh"; for standing choices `reversals.py`);
and, with a sign of change ("now", "actually"), the same subject with another value of the same kind
(`values.py`). Whose it is must agree: "we no longer use zsh" leaves "I use zsh".
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from .detection import detect
from .languages import Language
from .naming import is_rare, same_source
from .notes import Note
from .pieces import alike, naming_words
from .reversals import reversed_choice
from .values import is_another_value
from .vocabularies import persons_of, vocabulary_of
from .words import Phrases, Token, split_sentences, strip_final_stop, tokenize

_LONGEST = 2_000  # characters
_MOST_VALUE = 5  # words
_MOST_LEFT = 1  # words of what something was left for
_MARKS = frozenset(",;:-\uff0c\uff1b\uff1a\u3001")


def corrects(text: str, note: Note, notes: Sequence[Note]) -> bool:
    """True when the text says that the note no longer holds.

    Args:
        text: what the person typed.
        note: the one that is said to be corrected.
        notes: the scope's active notes; the words that tell must stand in few of the others.

    >>> old = Note("k3m9xz", "I always use zsh", "preference", "active", "")
    >>> corrects("From now on I use fish, not zsh", old, [old])
    True
    >>> corrects("I always use tabs", old, [old])
    False
    """
    tokens = tokenize(text) if len(text) <= _LONGEST else []
    language = detect(tokens)
    if not tokens or language is None:
        return False
    if language.phrases("conditionals").found_in(tokens):
        return False
    rivals = [one for one in notes if not same_source(one, note)]
    return any(
        _corrects(sentence, tokenize(old), note, rivals, language)
        for sentence in split_sentences(tokens, strict=False)
        for old in dict.fromkeys((note.text, note.said if note.credited else note.text))
    )


def _corrects(
    sentence: Sequence[Token],
    old: Sequence[Token],
    note: Note,
    rivals: Sequence[Note],
    language: Language,
) -> bool:
    new = strip_final_stop(sentence)
    known = {token.low for token in old}
    others = language.words("correction_others")
    if any(token.low in others and token.low not in known for token in new):
        return False
    told = _plain(old, language)
    found = [form(new, old, language) for form in (_given_anew, _moved, _chosen)]
    found.append(reversed_choice(_behind_sign(new, language), old, language))
    if _same_persons(new, note, language):
        found += [form(new, told, old, language) for form in (_ended, _contrasted)]
        found.append(_left(new, told, old, language))
    return any(is_rare(naming_words(named), note, rivals) for named in found)


def _same_persons(new: Sequence[Token], note: Note, language: Language) -> bool:
    """True when both speak of the same, or the note of nobody."""
    persons = persons_of(language)
    texts = (note.text, note.said if note.credited else "")
    told = frozenset[int]().union(*(persons.found_in(tokenize(text)) for text in texts))
    return not told or told == persons.found_in(new)


def _ended(
    new: Sequence[Token], told: Sequence[Token], old: Sequence[Token], language: Language
) -> Sequence[Token]:
    """The note's words that a clause ends: "I no longer use zsh"."""
    clauses = _clauses(new, language)
    for clause in clauses:
        if not language.phrases("correction_ended").found_in(clause):
            continue
        # "At work, I no longer …", "… fish and chips"
        if not all(one is clause or _stands_alone(one, language) for one in clauses):
            continue
        if not vocabulary_of(language).exceptions.found_in(clause):
            continue
        said = _ended_in(clause, old, language)
        if said and _same(said, told, language):
            return said
    return ()


def _stands_alone(clause: Sequence[Token], language: Language) -> bool:
    """True for a clause that begins with its own subject or an order, and so limits no other."""
    first = clause[0].low.partition("'")[0]
    if first in language.words("subject_pronouns") | language.words("subject"):
        return True
    fields = ("correction_choosing", "correction_signs", "forget_verbs", "forget_removers")
    return first in language.words("interjections") or any(
        language.phrases(field).match_at(clause, 0)
        for field in (*fields, "forget_pleas", "openers", "closers")
    )


def _ended_in(clause: Sequence[Token], old: Sequence[Token], language: Language) -> Sequence[Token]:
    """The words of the clause without what ends them; nothing where a word limits the end.

    "I no longer use zsh only" leaves zsh, and "my old dog" is another one.
    """
    bare = _without(_behind_sign(clause, language), _ending(language))
    lasting = language.phrases("correction_lasting").covered(bare)
    signs = language.phrases("correction_signs").covered(bare)
    limited = not lasting <= signs or _is_limited(bare, old, language)
    return () if limited else _plain(bare, language)


def _contrasted(
    new: Sequence[Token], told: Sequence[Token], old: Sequence[Token], language: Language
) -> Sequence[Token]:
    """The note's word that is denied where the rest is said again: "I use fish, not zsh"."""
    for index, length in language.phrases("correction_contrasts").find(new):
        said = _plain(new[:index], language)
        denied = _plain(new[index + length :], language)
        if any(
            _is_limited(part, old, language)
            for part in (_behind_sign(new[:index], language), new[index + length :])
        ):
            continue
        if not denied or vocabulary_of(language).exceptions.found_in(
            _behind_sign(new[:index], language)
        ):
            continue
        place = _find(denied, told)
        if place is None or _joins(told, language):
            continue
        before, value = told[:place], said[place:]
        # "I use zsh at work" is more than "zsh".
        if len(told) > place + len(denied):
            continue
        if not before or not value or not _same(said[:place], before, language):
            continue
        whole = [one for one in new[:index] if one.start >= value[0].start]
        # "in Oslo, not in Berlin"
        if value[0].low == denied[0].low:
            whole = whole[1:]
        if _is_plain_value(whole, language):
            return denied
    return ()


def _left(
    new: Sequence[Token], told: Sequence[Token], old: Sequence[Token], language: Language
) -> Sequence[Token]:
    """The note's word that was left for another: "We switched from pnpm to bun"."""
    new = _behind_sign(new, language)
    # The phrase says who left it; "my brother switched from …" is about another.
    length = language.phrases("correction_leaving").match_at(new, 0)
    if length:
        if vocabulary_of(language).exceptions.found_in(new):
            return ()
        rest = new[length:]
        towards = language.words("correction_towards")
        end = next((k for k, token in enumerate(rest) if token.low in towards), len(rest))
        denied = _plain(rest[:end], language)
        place = _find(denied, told) if denied else None
        if end == len(rest) or place is None or _joins((*told, *rest), language):
            return ()
        left_for = _plain(rest[end + 1 :], language)
        if len(told) > place + len(denied) or len(left_for) != _MOST_LEFT:
            return ()
        if denied[0].text[:1].isupper() != left_for[0].text[:1].isupper():
            # "We moved from pnpm to Rome"
            return ()
        limits = language.words("correction_limits")
        if any(token.low in limits for token in (*rest[:end], *rest[end + 1 :])):
            return ()
        # "I live in Berlin" and "I always use npm", but not "Avoid npm" or "I teach Spanish".
        bare = _without(strip_final_stop(old), language.phrases("correction_lasting"))
        for field in ("correction_single", "correction_choosing"):
            opened = language.phrases(field).match_at(bare, 0)
            if opened and opened + len(denied) == len(bare):
                return denied
    return ()


def _given_anew(new: Sequence[Token], old: Sequence[Token], language: Language) -> Sequence[Token]:
    """The subject that both give a value, where a sign says that the value changed."""
    if not _has_sign(new, language):
        return ()
    opened = len(new)
    new = _behind_sign(new, language)
    exceptions = vocabulary_of(language).exceptions
    if any(exceptions.found_in(text) or _joins(text, language) for text in (old, new)):
        return ()
    one, other = _subject_and_value(old, language), _subject_and_value(new, language)
    if one is None or other is None or not _same(one[0], other[0], language):
        return ()
    persons = persons_of(language)
    if persons.found_in(old) != persons.found_in(new):
        return ()
    if not is_another_value(old, new, language, opened=len(new) < opened):
        return ()
    firsts = {one[1][0].low, other[1][0].low}
    if len(firsts) > 1 and firsts & language.words("correction_limits"):
        return ()
    return other[0] if _is_plain_value(other[1][1:], language) else ()


def _moved(new: Sequence[Token], old: Sequence[Token], language: Language) -> Sequence[Token]:
    """The note's place where another is named "now": "I live in Rome now"."""
    if not _has_sign(new, language):
        return ()
    now = _without(_behind_sign(new, language), language.phrases("correction_signs"))
    one, other = strip_final_stop(old), strip_final_stop(now)
    length = language.phrases("correction_single").match_at(one, 0)
    opening = [token.low for token in one[:length]]
    if not length or opening != [token.low for token in other[:length]]:
        return ()
    places = (one[length:], other[length:])
    plain = all(len(part) == 1 and part[0].word and part[0].text[0].isupper() for part in places)
    return places[0] if plain and places[0][0].low != places[1][0].low else ()


def _chosen(new: Sequence[Token], old: Sequence[Token], language: Language) -> Sequence[Token]:
    """What the note chose where a rival of it is chosen now: "I now prefer spaces"."""
    if not _has_sign(new, language):
        return ()
    now = _without(_behind_sign(new, language), language.phrases("correction_signs"))
    other = strip_final_stop(now)
    one = strip_final_stop(_without(old, language.phrases("correction_lasting")))
    length = language.phrases("correction_choosing").match_at(one, 0)
    opening = [token.low for token in one[:length]]
    if not length or opening != [token.low for token in other[:length]]:
        return ()
    chosen = [" ".join(token.low for token in part[length:]) for part in (one, other)]
    groups = [item.split("|") for item in language.items("correction_rivals")]
    differ = chosen[0] != chosen[1] and any(set(chosen) <= set(group) for group in groups)
    return one[length:] if differ else ()


def _is_plain_value(tokens: Sequence[Token], language: Language) -> bool:
    """True for a few words that restrict nothing."""
    limits = language.words("correction_limits")
    rest = _without(tokens, _lasting(language))
    return len(rest) <= _MOST_VALUE and not any(token.low in limits for token in rest)


def _subject_and_value(
    tokens: Sequence[Token], language: Language
) -> tuple[Sequence[Token], Sequence[Token]] | None:
    """What stands before and behind the copula, articles and signs aside."""
    copulas = language.words("correction_copulas")
    place = next((k for k, token in enumerate(tokens) if token.low in copulas), None)
    if place is None:
        return None
    bare = language.words("correction_bare")
    signs = language.phrases("correction_signs")
    before = [one for one in _without(tokens[:place], signs) if one.low not in bare and one.word]
    behind = [one for one in _without(tokens[place + 1 :], signs) if one.word]
    return (before, behind) if before and behind else None


def _has_sign(new: Sequence[Token], language: Language) -> bool:
    opening = language.phrases("correction_openers").match_at(new, 0)
    return opening > 0 or language.phrases("correction_signs").found_in(new)


def _behind_sign(new: Sequence[Token], language: Language) -> Sequence[Token]:
    return new[language.phrases("correction_openers").match_at(new, 0) :]


def _clauses(new: Sequence[Token], language: Language) -> list[Sequence[Token]]:
    joiners = language.words("forget_joiners")
    parts: list[Sequence[Token]] = []
    begin = 0
    for index, token in enumerate(new):
        # The mark in "555-1234" parts nothing.
        inner = token.text == "-" and not token.gap
        if (token.text in _MARKS and not inner) or token.low in joiners:
            parts.append(new[begin:index])
            begin = index + 1
    return [part for part in (*parts, new[begin:]) if part]


def _plain(tokens: Sequence[Token], language: Language) -> Sequence[Token]:
    """The words without fillers and signs of lasting and of change."""
    tokens = _without(_behind_sign(tokens, language), _lasting(language))
    words = _without(tokens, vocabulary_of(language).fillers)
    return [token for token in words if token.word]


def _is_limited(tokens: Sequence[Token], old: Sequence[Token], language: Language) -> bool:
    """True where a filler that the note lacks may say that it is not all: "just", "the old"."""
    known = {token.low for token in old} | _spared(language)
    gone = persons_of(language).phrases.covered(tokens)
    gone |= language.phrases("correction_signs").covered(tokens)
    fillers = vocabulary_of(language).fillers.covered(tokens) - gone
    return any(tokens[index].low not in known for index in fillers)


@cache
def _spared(language: Language) -> frozenset[str]:
    fields = ("correction_copulas", "articles", "correction_spared", "subject_pronouns")
    return frozenset[str]().union(*map(language.words, fields))


@cache
def _ending(language: Language) -> Phrases:
    return Phrases([*language.items("correction_ended"), *language.items("negations")])


@cache
def _lasting(language: Language) -> Phrases:
    fields = ("correction_lasting", "correction_signs", "correction_ended")
    return Phrases([text for field in fields for text in language.items(field)])


def _without(tokens: Sequence[Token], phrases: Phrases) -> list[Token]:
    gone = {index + k for index, length in phrases.find(tokens) for k in range(length)}
    return [token for index, token in enumerate(tokens) if index not in gone]


def _joins(told: Sequence[Token], language: Language) -> bool:
    """True at a note of two things, of which one would be lost."""
    return any(token.low in language.words("forget_joiners") for token in told)


def _same(one: Sequence[Token], other: Sequence[Token], language: Language) -> bool:
    """True for the same words, in any form where a form alone does not say whose it is."""
    inflected = vocabulary_of(language).inflected
    return len(one) == len(other) and all(
        a.low == b.low or (not inflected and alike(a.low, b.low))
        for a, b in zip(one, other, strict=True)
    )


def _find(part: Sequence[Token], whole: Sequence[Token]) -> int | None:
    """Where the part stands in the whole."""
    lows, wanted = [token.low for token in whole], [token.low for token in part]
    for index in range(len(lows) - len(wanted) + 1):
        if lows[index : index + len(wanted)] == wanted:
            return index
    return None
