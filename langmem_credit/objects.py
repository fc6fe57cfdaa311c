"""Is the object of an order a kind of thing ("tests"), or one thing ("the test", "setup.py")?"""

from __future__ import annotations

from collections.abc import Sequence

from .languages import Language
from .words import Token, count_words, strip_final_stop

_SPELLED_OUT = 7  # words
_LONGEST_ENDING = 5  # letters, as in "html" or "jsonl"


def is_generic(verb: str, tokens: Sequence[Token], start: int, language: Language) -> bool:
    """True when the object is a kind of thing ("tests"), not one thing ("the test")."""
    particles = "particles" if verb in language.words("particle_verbs") else "people_particles"
    if start < len(tokens) and tokens[start].low in language.words(particles):
        start += particles == "particles" or verb in language.words("people_verbs")
    if start >= len(tokens):
        return False
    if names_one_thing(tokens, start, language):
        return has_marker(tokens, start - 1, language, "lasting_markers")
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
    return has_marker(tokens, start, language)


def has_marker(
    tokens: Sequence[Token], start: int, language: Language, field: str = "generic_markers"
) -> bool:
    """True when a word behind the verb makes a rule of the order: "every", "consistent"."""
    return any(token.low in language.words(field) for token in tokens[start + 1 :])


def names_one_thing(tokens: Sequence[Token], start: int, language: Language) -> bool:
    """True when the object is one word or one file, page, path or number, and nothing follows.

    "Summarize notes.txt", "close issue 45" and "run tests" are done once. In "Optimize Next.js
    performance" the name belongs to a kind of thing.

    >>> from langmem_credit.languages import load
    >>> from langmem_credit.words import tokenize
    >>> texts = ("fix setup.py", "fix all bugs")
    >>> [names_one_thing(tokenize(text), 1, load("en")) for text in texts]
    [True, False]
    """
    if not language.items("behind_names"):
        return False
    end = _without_trailers(tokens, language)
    behind = _chunk_end(tokens, start, end)
    if behind >= end:
        return True
    if _is_name(tokens, start, behind):
        return _ends_object(tokens, behind, language)
    # "close issue 45", "review PR #12"
    number = behind
    while number < end and tokens[number].text == "#":
        number += 1
    if number < end and tokens[number].low.isdigit():
        return number + 1 >= end or _ends_object(tokens, number + 1, language)
    return False


def _ends_object(tokens: Sequence[Token], index: int, language: Language) -> bool:
    """True when what stands here does not belong to the name before it."""
    return not tokens[index].word or language.phrases("behind_names").match_at(tokens, index) > 0


def _chunk_end(tokens: Sequence[Token], start: int, end: int) -> int:
    """The index behind what is written without white space from here: "src/app.py"."""
    index = start + 1
    while index < end and not tokens[index].gap and tokens[index].text not in ",;:!":
        index += 1
    return index


def _is_name(tokens: Sequence[Token], start: int, end: int) -> bool:
    """True for a file, a page or a path."""
    chunk = [token for token in tokens[start:end] if token.text not in "`\"'"]
    if chunk and chunk[0].text.istitle() and chunk[-1].low == "js":
        # "Alpine.js" is a kind of thing.
        return False
    if any(token.text in "/\\" for token in chunk):
        return chunk[0].text in "/\\~." or "." in {token.text for token in chunk}
    if len(chunk) < 3 or chunk[-2].text != ".":
        return False
    return chunk[-1].low.isalpha() and len(chunk[-1].low) <= _LONGEST_ENDING


def _without_trailers(tokens: Sequence[Token], language: Language) -> int:
    """How many tokens stand before "please", "now" and the final stop."""
    end = len(strip_final_stop(tokens))
    while end:
        kept = tokens[:end]
        length = language.phrases("trailers").match_end(kept)
        if not length and tokens[end - 1].text in ",-!.\uff0c\u3002":
            length = 1
        if not length:
            break
        end -= length
    return end


def _has_second_object(tokens: Sequence[Token], start: int, language: Language) -> bool:
    """True at "make Bob an admin", which is done once."""
    following = start + 1
    return (
        following < len(tokens)
        and tokens[following].low in language.words("articles")
        and not has_marker(tokens, following, language)
    )


def _is_compound(tokens: Sequence[Token], index: int) -> bool:
    """True at the "one" of "one-liners"."""
    return index + 1 < len(tokens) and tokens[index + 1].text == "-" and not tokens[index + 1].gap


def _is_spelled_out(tokens: Sequence[Token], language: Language) -> bool:
    return count_words(tokens) >= _SPELLED_OUT and not any(
        token.low in language.words("pointing") for token in tokens
    )
