"""Where the words of a message may end: before a closer such as "thanks" that says nothing."""

from __future__ import annotations

from collections.abc import Sequence

from .languages import Language
from .letters import parts_words
from .words import Token, separates, strip_final_stop

_MOST = 6
_VERBS = ("working", "generic_working", "one_off_verbs")
_BEFORE_VERB = ("subject_adverbs", "negations", "subject_pronouns")
_NOT_BEFORE_CLOSER = ("closers_not_behind", "leading_prepositions", "auxiliaries")


def find_ends(tokens: Sequence[Token], language: Language) -> tuple[int, ...]:
    """The indexes at which the words may end, the last first: before the stop, before "thanks"."""
    ends = [len(tokens)]
    while len(ends) <= _MOST:
        kept = strip_final_stop(tokens[: ends[-1]])
        if len(kept) != ends[-1]:
            ends.append(len(kept))
        closer = _closer_length(kept, language)
        if not closer or closer >= len(kept):
            break
        index = len(kept) - closer
        while index > 1 and tokens[index - 1].text in ",;-\u2026" and tokens[index].gap:
            index -= 1
        ends.append(index)
    return tuple(ends)


def _closer_length(tokens: Sequence[Token], language: Language) -> int:
    length = language.phrases("closers_after_separator").match_end(tokens)
    before = len(tokens) - length - 1
    if length and separates(tokens, before):
        if tokens[before - 1].low in language.words("leading_prepositions"):
            # "We always end with, please": the closer is the end meant.
            return 0
        listed = _is_listed(tokens, before, language)
        return 0 if listed or _is_wording(tokens[: before + 1], language) else length
    length = language.phrases("closers").match_end(tokens)
    if not parts_words(tokens, len(tokens) - length):
        return 0
    if length and length < len(tokens) and not _is_name(tokens, len(tokens) - length):
        inner = any(token.low in language.words("subordinators") for token in tokens[:-length])
        if not inner and not _is_object(tokens, len(tokens) - length, language):
            # "Show only events from now on" says which events.
            if not any(token.low in language.words("restrictors") for token in tokens):
                return length
    return 0


def _is_name(tokens: Sequence[Token], index: int) -> bool:
    """True at a capital in the middle of small letters: "the song Please"."""
    return tokens[index].text.istitle() and tokens[index - 1].word


def _is_object(tokens: Sequence[Token], index: int, language: Language) -> bool:
    """True at "Never skip please": what looks like a closer is what the word before speaks of."""
    low = tokens[index - 1].low
    if any(low in language.words(field) for field in _NOT_BEFORE_CLOSER):
        return True
    if language.items("final_endings"):
        # Where the verb stands last, its object went before.
        return False
    if any(low in language.words(field) for field in _VERBS):
        return True
    signed = index > 1 and any(
        tokens[index - 2].low in language.words(field) for field in _BEFORE_VERB
    )
    # "N'utilise jamais lodash stp": the verb went before the denial.
    placed = index > 2 and any(tokens[index - 3].low in language.words(field) for field in _VERBS)
    return index < 2 or (signed and not placed)


def _is_listed(tokens: Sequence[Token], mark: int, language: Language) -> bool:
    """True at "Our words are hello, please, thanks": the closer is the last item of a list."""
    if tokens[mark].text not in ",\uff0c\u3001":
        return False
    if tokens[mark + 1].text.istitle() or separates(tokens, mark - 2):
        return True
    return mark > 1 and tokens[mark - 2].low in language.words("copulas")


def _is_wording(tokens: Sequence[Token], language: Language) -> bool:
    """True when the words end in something to be written: "end my mails with: Best, thanks"."""
    near = {token.low for token in tokens[-4:]}
    if near & language.words("wording_near"):
        return True
    verbs = [k for k, token in enumerate(tokens) if token.low in language.words("wording_verbs")]
    if not verbs:
        return False
    # "Always answer in French, thanks", but "Always sign my mails Bob, thanks".
    placed = any(
        token.low in language.words("leading_prepositions") for token in tokens[verbs[0] :]
    )
    return not placed or bool(near & language.words("wording_with"))
