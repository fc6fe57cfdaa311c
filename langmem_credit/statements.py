"""Do words state something, by their form: no bare verb comes first that could order it."""

from __future__ import annotations

from collections.abc import Sequence

from .languages import Language
from .words import Token


def is_statement(tokens: Sequence[Token], start: int, language: Language) -> bool:
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
    if is_no_verb(tokens[start], language):
        return True
    return has_finite_verb(tokens, start + 1, language)


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


def is_predicate(tokens: Sequence[Token], index: int, language: Language) -> bool:
    """True behind "im" for "im vegan" and "im using tabs", not at "im bob about lunch"."""
    if index >= len(tokens) or tokens[index - 1].text.isupper():
        return False
    token = tokens[index]
    fields = ("articles", "indefinite", "negations", "leading_prepositions", "adverbs")
    return (
        any(token.low in language.words(field) for field in fields)
        or _is_inflected(token.low, language)
        or is_no_verb(token, language)
    )


def is_no_verb(token: Token, language: Language) -> bool:
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


def has_finite_verb(tokens: Sequence[Token], start: int, language: Language) -> bool:
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
