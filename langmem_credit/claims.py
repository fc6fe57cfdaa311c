"""What a model claims about a note beside its words: whom it is about, how important it is."""

from __future__ import annotations

from collections.abc import Sequence

from .languages import Language
from .notes import LIMITS, Utterance
from .sentences import Stretch
from .words import Token, find_tokens, is_unspaced, tokenize

_MEANT = {"me": "about_agent", "everyone": "about_everyone", "session": "about_session"}
_FAR = 3


def unsupported(stretch: Stretch, about: str | None, *, core: bool) -> tuple[str, ...]:
    """The claims that the person's words do not carry, in the order about, core.

    >>> text = "It is not important that I use npm"
    >>> stretch = Stretch([Utterance("m", text)], 0, 0, tokenize(text))
    >>> unsupported(stretch, "use npm", core=True)
    ('about', 'core')
    """
    if not about and not core:
        return ()
    utterance, tokens, language = stretch.utterance, stretch.tokens, stretch.language
    ignored = []
    if about and not _names(about, utterance, tokens, language):
        ignored.append("about")
    if core and not (language and _calls_important(tokens, language)):
        ignored.append("core")
    return tuple(ignored)


def _names(
    about: str, utterance: Utterance, tokens: Sequence[Token], language: Language | None
) -> bool:
    if utterance.speaker and about == utterance.speaker:
        return True
    if about in _MEANT:
        return bool(language and language.phrases(_MEANT[about]).found_in(tokens))
    if len(about) > LIMITS.note:
        return False
    place = find_tokens(tokenize(about), tokens)
    return place is not None and _is_name(tokens, *place, language)


def _is_name(tokens: Sequence[Token], start: int, end: int, language: Language | None) -> bool:
    """True for capitals ("Bob") and for what somebody's is ("my sister"), not for "use npm"."""
    words = [token for token in tokens[start:end] if token.word]
    if any(is_unspaced(word.text) for word in words):
        return True
    if words and all(word.text[0].isupper() for word in words):
        return True
    owners = language.words("determiners") if language else frozenset()
    return tokens[start].low in owners or (start > 0 and tokens[start - 1].low in owners)


def _calls_important(tokens: Sequence[Token], language: Language) -> bool:
    """True at "Important: …" and "it is important that …", not where it is denied."""
    negations = language.words("negations")
    for index, length in language.phrases("core_signs").find(tokens):
        near = tokens[max(0, index - _FAR) : index]
        if not any(token.low in negations for token in near):
            if not _belongs_to_noun(tokens, index, index + length, language):
                return True
    return False


def _belongs_to_noun(tokens: Sequence[Token], start: int, end: int, language: Language) -> bool:
    """True at "my critical illness cover", where one word of importance goes with a noun."""
    if not language.items("agreement") or end - start > 1 or end >= len(tokens):
        return False
    return tokens[end].word and tokens[end].low not in language.words("function_words")
