"""Should these words last: a statement or a way of working, not an errand for today.

Each clause must show a sign of lasting. An order with a verb that no list knows shows none, so it
stays unconfirmed: "Delete the staging database." is a task.
"""

from __future__ import annotations

from collections.abc import Sequence

from .clauses import has_lasting_phrase, holds_errand, is_prohibition, last_verb_lasts
from .languages import Language
from .words import Token, count_words, separates, split_sentences

_SPELLED_OUT = 7  # words
# "a: a: a: …" would otherwise be followed to Python's own limit.
_MOST_NESTED = 4


def lasts(tokens: Sequence[Token], language: Language) -> bool:
    """True when every sentence of the text shows a sign that it should last."""
    parts = [part for part in split_sentences(tokens, strict=False) if count_words(part)]
    return bool(parts) and all(_sentence_lasts(part, language) for part in parts)


def has_strong_sign(tokens: Sequence[Token], language: Language) -> bool:
    """True when a word such as "always" says that it should last.

    Words between quotation marks do not count.
    """
    if has_lasting_phrase(tokens, language):
        return True
    start = _skip(tokens, 0, language)
    return _is_stopping(tokens, start, language)


def has_own_sign(tokens: Sequence[Token], language: Language) -> bool:
    """True when the words speak of the speaker or say that they should last."""
    first_person = language.words("weak_first_person")
    return any(token.low in first_person for token in tokens) or has_strong_sign(tokens, language)


def is_order(tokens: Sequence[Token], language: Language) -> bool:
    """True when the words open with a prohibition or a verb that some list knows."""
    start = _skip_signs(tokens, language)
    if start >= len(tokens):
        return False
    return (
        language.phrases("prohibitions").match_at(tokens, start) > 0
        or language.phrases("ways").match_at(tokens, start) > 0
        or _is_stopping(tokens, start, language)
        or _is_known_verb(tokens[start].low, language)
    )


def asks_about_state(tokens: Sequence[Token], language: Language) -> bool:
    """True when "can you …" goes on with something one is, knows or can, not with an order."""
    start = _skip_signs(tokens, language)
    return start < len(tokens) and tokens[start].low in language.words("states")


def _skip_signs(tokens: Sequence[Token], language: Language) -> int:
    """The index of the first word behind openers, adverbs and signs such as "always"."""
    index = _skip(tokens, 0, language)
    while index < len(tokens):
        length = language.phrases("strong").match_at(tokens, index)
        if not length or tokens[index].low in language.words("states"):
            break
        index = _skip(tokens, index + length, language)
    return index


def _sentence_lasts(tokens: Sequence[Token], language: Language) -> bool:
    if has_strong_sign(tokens, language):
        return True
    if language.phrases("one_off").found_in(tokens):
        return False
    start = _skip(tokens, 0, language)
    if start >= len(tokens):
        return False
    if any(token.low in language.words("restrictors") for token in tokens[: start + 1]):
        return True
    return _clause_lasts(tokens, start, language)


def _clause_lasts(tokens: Sequence[Token], start: int, language: Language, nested: int = 0) -> bool:
    """The clause from tokens[start], once adverbs and openers are behind us."""
    if start >= len(tokens) or nested > _MOST_NESTED:
        return False
    low = tokens[start].low
    if language.phrases("conditionals").match_at(tokens, start):
        return True
    length = language.phrases("obligations").match_at(tokens, start)
    verb = _skip(tokens, start + length, language)
    if length and verb < len(tokens) and tokens[verb].low in language.words("generic_working"):
        return True
    length = length or language.phrases("requests").match_at(tokens, start)
    if length:
        return _order_lasts(tokens, _skip(tokens, start + length, language), language)
    if is_prohibition(tokens, start, language):
        return True
    if holds_errand(tokens[start:], language):
        return False
    if language.phrases("ways").match_at(tokens, start):
        return True
    if low not in language.words("pronouns"):
        in_the_end = last_verb_lasts(tokens, start, language)
        if in_the_end is not None:
            return in_the_end
    if language.phrases("statements").match_at(tokens, start):
        return True
    if low.isdigit():
        return True
    if low in language.words("leading_prepositions"):
        if _is_keyword(tokens, start):
            return _is_no_verb(tokens[start], language)
        return _after_comma_lasts(tokens, start, language, nested)
    if low.partition("'")[0] in language.words("subjects"):
        return True
    if _is_known_verb(low, language) and not _names_a_subject(tokens, start, language):
        return _order_lasts(tokens, start, language)
    if _lead_in_lasts(tokens, start, language, nested):
        return True
    return _is_statement(tokens, start, language)


def _skip(tokens: Sequence[Token], start: int, language: Language) -> int:
    """The index of the first word that is no adverb, opener or mark."""
    index = start
    while index < len(tokens):
        length = language.phrases("openers").match_at(tokens, index)
        if not length and not tokens[index].word:
            length = 1
        if not length and _is_adverb(tokens[index].low, language):
            length = 1
        if not length:
            length = language.phrases("openers_before_separator").match_at(tokens, index)
            if length and not separates(tokens, index + length):
                length = 0
        if not length:
            break
        index += length
    return index


def _is_adverb(low: str, language: Language) -> bool:
    if low in language.words("adverbs"):
        return True
    endings = tuple(language.items("adverb_endings"))
    return bool(endings) and low.endswith(endings) and low not in language.words("not_adverbs")


def _is_known_verb(low: str, language: Language) -> bool:
    fields = ("working", "generic_working", "one_off_verbs", "other_verbs")
    return any(low in language.words(field) for field in fields)


def _names_a_subject(tokens: Sequence[Token], start: int, language: Language) -> bool:
    """True at "Search params are …", where the verb's word belongs to a noun."""
    return (
        start + 2 < len(tokens)
        and tokens[start + 1].word
        and tokens[start + 1].low not in language.words("articles")
        and tokens[start + 2].low in language.words("auxiliaries")
    )


def _is_stopping(tokens: Sequence[Token], start: int, language: Language) -> bool:
    """True at "stop adding …", an order that lasts by its form."""
    return (
        start + 1 < len(tokens)
        and tokens[start].low in language.words("stopping")
        and any(tokens[start + 1].low.endswith(end) for end in language.items("stopping_endings"))
    )


def _order_lasts(tokens: Sequence[Token], start: int, language: Language) -> bool:
    """True when the order that begins at tokens[start] is a way of working."""
    if start >= len(tokens):
        return False
    low = tokens[start].low
    if is_prohibition(tokens, start, language):
        return True
    if holds_errand(tokens[start:], language):
        return False
    if language.phrases("ways").match_at(tokens, start):
        return True
    in_the_end = last_verb_lasts(tokens, start, language)
    if in_the_end is not None:
        return in_the_end
    if low in language.words("one_off_verbs"):
        # "Deploy with fly.io" tells how, not what to do now.
        return start + 1 < len(tokens) and tokens[start + 1].low in language.words("manners")
    if low in language.words("working"):
        return True
    if low in language.words("generic_working"):
        return _is_generic(low, tokens, start + 1, language)
    return _has_marker(tokens, start, language)


def _is_generic(verb: str, tokens: Sequence[Token], start: int, language: Language) -> bool:
    """True when the object is a kind of thing ("tests"), not one thing ("the test")."""
    particles = "particles" if verb in language.words("particle_verbs") else "people_particles"
    if start < len(tokens) and tokens[start].low in language.words(particles):
        start += particles == "particles" or verb in language.words("people_verbs")
    if start >= len(tokens):
        return False
    if tokens[start].text.istitle() and (
        verb in language.words("people_verbs") or _has_second_object(tokens, start, language)
    ):
        return False
    article = tokens[start].low
    if article not in language.words("articles") or _is_compound(tokens, start):
        return True
    if article in language.words("clause_openers") and verb in language.words("clause_verbs"):
        return True
    if article in language.words("indefinite"):
        if verb in language.words("working_indefinite"):
            return True
        # An errand is short; a sentence that spells its object out is a rule.
        if verb in language.words("working_spelled_out") and _is_spelled_out(tokens, language):
            return True
    return _has_marker(tokens, start, language)


def _has_second_object(tokens: Sequence[Token], start: int, language: Language) -> bool:
    """True at "make Bob an admin", which is done once."""
    following = start + 1
    return (
        following < len(tokens)
        and tokens[following].low in language.words("articles")
        and not _has_marker(tokens, following, language)
    )


def _is_keyword(tokens: Sequence[Token], start: int) -> bool:
    """True at capitals before small letters and no comma: "FROM events GROUP BY day" is code."""
    word = tokens[start].text
    return (
        any(char.isupper() for char in word[1:])
        and any(token.text.islower() for token in tokens[start + 1 :])
        and not any(token.text in ",，" for token in tokens[start + 1 :])
    )


def _is_compound(tokens: Sequence[Token], index: int) -> bool:
    """True at the "one" of "one-liners"."""
    return index + 1 < len(tokens) and tokens[index + 1].text == "-" and not tokens[index + 1].gap


def _is_spelled_out(tokens: Sequence[Token], language: Language) -> bool:
    return count_words(tokens) >= _SPELLED_OUT and not any(
        token.low in language.words("pointing") for token in tokens
    )


def _has_marker(tokens: Sequence[Token], start: int, language: Language) -> bool:
    return any(token.low in language.words("generic_markers") for token in tokens[start + 1 :])


def _after_comma_lasts(
    tokens: Sequence[Token], start: int, language: Language, nested: int
) -> bool:
    """The main clause behind "For X, …" or "Before doing Y, …".

    A gerund makes the lead a recurring step, so that any order but an errand lasts behind it.
    """
    recurs = start + 1 < len(tokens) and tokens[start + 1].low.endswith(
        tuple(language.items("gerund_endings")) or ("\0",)
    )
    for index in range(start, len(tokens) - 1):
        if tokens[index].text in ",，、:":
            main = _skip(tokens, index + 1, language)
            if recurs and main < len(tokens):
                low = tokens[main].low
                if low in language.words("generic_working"):
                    return True
            return _clause_lasts(tokens, main, language, nested + 1)
    if any(token.low in language.words("subject_pronouns") for token in tokens[start + 1 :]):
        # "On Mondays I work from home" and "In this repo we use tabs" order nothing.
        return True
    return not recurs and _has_finite_verb(tokens, start + 1, language)


def _lead_in_lasts(tokens: Sequence[Token], start: int, language: Language, nested: int) -> bool:
    """The rest behind a short lead-in such as "Naming: …"."""
    for index in range(start + 1, min(start + 8, len(tokens) - 1)):
        if tokens[index].text in ":：-" and tokens[index + 1].gap:
            rest = _skip(tokens, index + 1, language)
            return _clause_lasts(tokens, rest, language, nested + 1)
    return False


def _is_statement(tokens: Sequence[Token], start: int, language: Language) -> bool:
    """True when the words are no order: their first word is surely no verb in its bare form.

    A first word that nothing tells apart from a verb counts as one. An article or object pronoun
    right behind it makes it one ("nuke the old files").
    """
    following = tokens[start + 1] if start + 1 < len(tokens) else None
    if _is_inflected(tokens[start].low, language):
        return True
    if following is None or following.low in language.words("articles"):
        return False
    if not following.word and language.items("noun_endings"):
        return True
    if following.low in language.words("noun_followers"):
        return True
    if _is_no_verb(tokens[start], language):
        return True
    return _has_finite_verb(tokens, start + 1, language)


def _is_inflected(low: str, language: Language) -> bool:
    """True for "implementing", "provides", "keys": never the bare form of a verb."""
    endings = tuple(language.items("inflected_endings"))
    return (
        len(low) > 3
        and bool(endings)
        and low.endswith(endings)
        and not low.endswith(tuple(language.items("verb_endings")) or ("\0",))
        and low not in language.words("verbs_with_noun_endings")
    )


def _is_no_verb(token: Token, language: Language) -> bool:
    """True for a known noun or adjective, and for a form that no bare verb has.

    Such forms are a capital inside ("TanStack"), a digit ("V0"), and the language's endings, as
    in "functions" or "scheduled".
    """
    low = token.low
    if low in language.words("nouns"):
        return True
    if not language.items("noun_endings"):
        return False
    if any(char.isdigit() for char in low):
        return True
    if any(char.isupper() for char in token.text[1:]) and len(low) < 6:
        return True
    if any(char.isupper() for char in token.text[1:]) and not token.text.isupper():
        return True
    if low in language.words("verbs_with_noun_endings"):
        return False
    return len(low) > 4 and low.endswith(tuple(language.items("noun_endings")))


def _has_finite_verb(tokens: Sequence[Token], start: int, language: Language) -> bool:
    """True when a finite verb follows in the same clause ("Tests live in spec/").

    Right behind the first word, any form in -s with an article behind it is one ("Iceberg
    exposes a table").
    """
    if start + 1 < len(tokens) and tokens[start + 1].low in language.words("determiners"):
        if tokens[start].low.endswith(tuple(language.items("finite_endings")) or ("\0",)):
            return True
    for token in tokens[start:]:
        if token.low in language.words("subordinators"):
            return False
        if token.low in language.words("finite"):
            return True
    return False
