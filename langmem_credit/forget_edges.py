"""What stands around the words of a request and is none of them: marks and a reason.

Pure, and closed: a reason counts only where it lets the thing go ("I moved"); anything else behind
the request stays part of it, and then it names no note.
"""

from __future__ import annotations

from collections.abc import Sequence

from .languages import Language
from .words import Token

_MOST_REASON = 12  # words
MARKS = frozenset(",;:-\uff0c\uff1b\u3001\u2026")
_QUOTES = frozenset("\"'`")


def without_reason(body: Sequence[Token], language: Language) -> Sequence[Token]:
    """Without a reason behind a comma that keeps, excepts and asks nothing: ", I moved"."""
    reasons = language.phrases("forget_reasons")
    for index in range(1, len(body) - 1):
        if body[index].text in MARKS and (body[index].gap or body[index].text != "-"):
            begin = index + 1
        elif language.phrases("forget_because").match_at(body, index):
            begin = index
        else:
            continue
        tail = body[begin:]
        length = reasons.match_at(tail, 0) or language.phrases("forget_because").match_at(tail, 0)
        if not length:
            continue
        if len(tail) > _MOST_REASON or language.phrases("forget_exceptions").found_in(tail):
            return body
        named = {token.low for token in body[:index] if token.word}
        again = any(token.low in named for token in tail[length:])
        # "Forget pnpm, we use npm and pnpm now"
        return body[:index] if lets_go(tail, language) and not again else body
    return body


def lets_go(tail: Sequence[Token], language: Language) -> bool:
    """True at a reason that speaks of the speaker, and of nothing that is still needed.

    Not at "I use it daily", "I moved my flight" and "because Ann needs it".
    """
    because = language.phrases("forget_because").match_at(tail, 0)
    tail = tail[because:]
    length = language.phrases("forget_reasons").match_at(tail, 0)
    if not length and not language.phrases("forget_selves").match_at(tail, 0):
        return False
    kept = language.words("forget_kept")
    rest = tail[length:]
    if language.phrases("forget_reasons_now").match_at(tail, 0) == length > 0:
        return language.phrases("correction_signs").found_in(rest) and not any(
            token.low in kept for token in rest
        )
    return not any(token.low in kept for token in rest)


def trim(body: Sequence[Token]) -> Sequence[Token]:
    """Without marks at its end; quotation marks stay."""
    end = len(body)
    while end and not body[end - 1].word and body[end - 1].text not in _QUOTES:
        end -= 1
    return body[:end]


def without_mark(said: Sequence[Token]) -> Sequence[Token]:
    """Without the comma or colon right behind the verb: "vergiss, dass …"."""
    return said[1:] if said and said[0].text in ",:\uff0c\uff1a" else said
