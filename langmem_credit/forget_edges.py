"""What stands around the words of a request and is none of them: marks, a reason, "forget it".

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


def ended_clause(sentence: Sequence[Token], language: Language) -> Sequence[Token]:
    """What says that something ended, "forget it" aside: "I no longer use zsh, forget it"."""
    body = trim(sentence)
    verbs, pronouns = language.phrases("forget_verbs"), language.words("forget_pronouns")
    length = verbs.match_at(body, 0)
    if length and len(body) > length + 1 and body[length].low in pronouns:
        mark, clause = body[length + 1], body[length + 2 :]
    elif (
        body
        and body[-1].low in pronouns
        and (
            length := verbs.match_end(body[:-1])
            or language.phrases("forget_removers").match_end(body[:-1])
        )
    ):
        rest = body[: len(body) - 1 - length]
        while plea := language.phrases("forget_pleas").match_end(rest):
            rest = rest[:-plea]
        mark, clause = (rest[-1], trim(rest)) if rest else (body[0], [])
    else:
        return ()
    if mark.text not in MARKS:
        return ()
    ended = language.phrases("correction_ended").found_in(clause)
    return clause if ended else ()


def is_personal(said: Sequence[Token], language: Language, *, clauses: bool = True) -> bool:
    """True at "my birthday", "my wife's birthday" and "that I …", which are told and no things."""
    if clauses and language.phrases("forget_storing").match_at(said, 0):
        return True
    begin = language.phrases("forget_own").match_at(said, 0)
    rest = said[begin:]
    length = language.phrases("forget_personal").match_end(rest)
    owners = rest[: len(rest) - length]
    return begin > 0 and length > 0 and all(one.low.endswith("'s") for one in owners)


def lies_elsewhere(said: Sequence[Token], language: Language) -> bool:
    """True at "the note on my desk" and "the note in my car"."""
    elsewhere, lying = language.words("forget_elsewhere"), language.phrases("forget_lying")
    return any(
        said[index + length].low in elsewhere
        or (
            lying.match_at(said, index + length)
            # "the note on my budget"
            and not is_personal(said[index + length + 1 :], language, clauses=False)
        )
        for index, length in language.phrases("forget_memory_words").find(said)
        if index + length < len(said)
    )


def trim(body: Sequence[Token]) -> Sequence[Token]:
    """Without marks at its end; quotation marks stay."""
    end = len(body)
    while end and not body[end - 1].word and body[end - 1].text not in _QUOTES:
        end -= 1
    return body[:end]


def without_mark(said: Sequence[Token]) -> Sequence[Token]:
    """Without the comma or colon right behind the verb: "vergiss, dass …"."""
    return said[1:] if said and said[0].text in ",:\uff0c\uff1a" else said
