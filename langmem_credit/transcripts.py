"""What was said in a conversation, as it is searched and shown, and the last ones kept at hand.

What people and agents said is all; only when asked for, everything else too: what tools were called
with and answered, what code wrote in somebody's name. An agent's reasoning is never part of it.
"""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any
from weakref import WeakKeyDictionary

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage

from .marks import made_by_code, spoken_in, text_of
from .matching import Place, best_line, fold_text
from .register import TITLE_CHARS, short

PERSON, AGENT, TOOL = "person", "agent", "tool"

MOST_CHARS = 20_000_000
_ARGUMENTS_CHARS = 2_000


@dataclass(frozen=True, slots=True)
class Said:
    """One message of a conversation.

    Attributes:
        number: in the conversation, from 0 on; messages that say nothing have numbers too.
        role: "person", "agent", or "tool" for everything else.
        text: as it was said.
        id: of the message, or "".
    """

    number: int
    role: str
    text: str
    id: str = ""


class Transcript:
    """One state of a conversation, as it is searched.

    Attributes:
        title: that the conversation has of itself, "" for none.
    """

    __slots__ = ("_folded", "_parts", "_text", "title")

    def __init__(self, said: Sequence[Said], title: str = "") -> None:
        self.title = title
        # One text for all, which is folded at once.
        self._text = "\n".join([one.text for one in said])
        self._parts: list[tuple[int, str, str, int, int]] = []
        start = 0
        for one in said:
            end = start + len(one.text)
            self._parts.append((one.number, one.role, one.id, start, end))
            start = end + 1
        # Plain text is folded in no time, and so held once only.
        self._folded = None if self._text.isascii() else fold_text(self._text)

    @property
    def said(self) -> tuple[Said, ...]:
        """The messages that say something, oldest first."""
        return tuple(self._each())

    @property
    def folded(self) -> str:
        """All of it, folded for the search; a line break between messages."""
        return fold_text(self._text) if self._folded is None else self._folded

    @property
    def chars(self) -> int:
        """How many characters it holds, as it was said and, where that is kept, folded."""
        return len(self._text) + len(self.title) + len(self._folded or "")

    def find(self, words: Sequence[str]) -> tuple[Place, str] | None:
        """The first line with most of the words, and where it is; None for none."""
        found: tuple[Place, str] | None = None
        most = 0
        for one in self._each():
            lines = one.text.splitlines()
            number, count = best_line(words, lines)
            if count > most:
                place = Place(one.number, number, one.role, one.id)
                found, most = (place, lines[number]), count
                if most == len(words):
                    break
        return found

    def _each(self) -> Iterator[Said]:
        for number, role, message_id, start, end in self._parts:
            yield Said(number, role, self._text[start:end], message_id)


def transcript_of(messages: Iterable[BaseMessage], *, everything: bool = False) -> Transcript:
    """What was said in these messages.

    Args:
        messages: of the conversation, oldest first.
        everything: also what tools and code put into it.
    """
    said: list[Said] = []
    title = ""
    for number, message in enumerate(messages):
        role = _role(message)
        if role == PERSON and not title:
            title = title_of([message])
        text = text_of(message.content)
        if everything and isinstance(message, AIMessage):
            text = "\n".join([part for part in (text, *_calls(message)) if part])
        if text.strip() and (everything or role != TOOL):
            said.append(Said(number, role, text, message.id or ""))
    return Transcript(said, title)


def first_typed(messages: Iterable[BaseMessage]) -> str:
    """The first words that a person typed in these messages, as far as their marks say."""
    for message in messages:
        if isinstance(message, HumanMessage) and not made_by_code(message):
            for spoken in spoken_in(message):
                if spoken.via == "input" and spoken.text.strip():
                    return spoken.text
    return ""


def title_of(messages: Iterable[BaseMessage]) -> str:
    """The title that a conversation has of itself: its first typed words; "" for none."""
    return short(first_typed(messages), TITLE_CHARS)


def is_compacted(messages: Sequence[BaseMessage]) -> bool:
    """True where the conversation begins with what may be the summary of a compaction."""
    return bool(_summaries(messages))


def is_compaction(before: Sequence[BaseMessage], after: Sequence[BaseMessage]) -> bool:
    """True where a summary took the place of messages in this step."""
    known = {one.id for one in before}
    return any(one.id not in known for one in _summaries(after))


def _summaries(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """What stands before all that people and agents said: summaries, or the host's instructions."""
    return list(
        takewhile(
            lambda one: (
                isinstance(one, SystemMessage)
                or (isinstance(one, HumanMessage) and made_by_code(one))
            ),
            messages,
        )
    )


def with_earlier(
    messages: Sequence[BaseMessage], earlier: Iterable[Sequence[BaseMessage]]
) -> list[BaseMessage]:
    """The conversation with what compactions took out of it put before it.

    Args:
        messages: as they are now.
        earlier: the messages before each compaction, the newest compaction first.
    """
    known = {message.id for message in messages}
    whole = list(messages)
    for before in earlier:
        gone = [message for message in before if message.id not in known]
        known.update(message.id for message in gone)
        whole[:0] = gone
    return whole


def _role(message: BaseMessage) -> str:
    if isinstance(message, HumanMessage):
        return TOOL if made_by_code(message) else PERSON
    return AGENT if isinstance(message, AIMessage) else TOOL


def _calls(message: AIMessage) -> Iterable[str]:
    for call in message.tool_calls:
        arguments = json.dumps(call["args"], ensure_ascii=False, default=str)
        yield f"{call['name']} {arguments[:_ARGUMENTS_CHARS]}"


class TranscriptCache:
    """The transcripts read last, within a number of characters, for all searches of this process.

    A transcript stands for one version of a conversation: the id of its newest checkpoint. Where a
    checkpointer can say what changed since, `asked` is when it was last asked, and a transcript of
    the same epoch needs no look to be current.
    """

    def __init__(self, most_chars: int = MOST_CHARS) -> None:
        self._most_chars = most_chars
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[int, str, bool], _Kept] = OrderedDict()
        self._chars = 0
        self._savers: WeakKeyDictionary[Any, _Saver] = WeakKeyDictionary()
        self._numbers = 0

    @property
    def chars(self) -> int:
        """Characters held now."""
        return self._chars

    def get(self, saver: Any, thread: str, version: str, everything: bool) -> Transcript | None:
        """The transcript of this version of the thread, which is current."""
        with self._lock:
            of = self._of(saver)
            kept = None if of is None else self._used((of.number, thread, everything))
            if of is None or kept is None or kept.version != version:
                return None
            kept.epoch = of.epoch
            return kept.transcript

    def current(self, saver: Any, thread: str, everything: bool) -> Transcript | None:
        """The transcript of the thread, where it is known that nothing changed since."""
        with self._lock:
            of = self._of(saver)
            if of is None or not of.asked.at:
                return None
            kept = self._used((of.number, thread, everything))
            return kept.transcript if kept is not None and kept.epoch == of.epoch else None

    def put(
        self, saver: Any, thread: str, version: str, everything: bool, transcript: Transcript
    ) -> None:
        """Keeps the transcript, and drops those not used for longest when there are too many."""
        if transcript.chars > self._most_chars:
            return
        with self._lock:
            of = self._of(saver)
            if of is None:
                return
            key = (of.number, thread, everything)
            self._drop(key)
            self._kept[key] = _Kept(version, transcript, of.epoch)
            self._chars += transcript.chars
            while self._chars > self._most_chars:
                self._drop(next(iter(self._kept)))

    def asked(self, saver: Any) -> LastAsked:
        """When it was last asked what changed."""
        with self._lock:
            of = self._of(saver)
            return LastAsked() if of is None else of.asked

    def changed(self, saver: Any, versions: dict[str, str] | None, asked: LastAsked) -> None:
        """Takes note of what changed since it was last asked.

        Args:
            saver: that was asked.
            versions: newest version of each thread that may have changed; None for all threads.
            asked: when that was.
        """
        with self._lock:
            of = self._of(saver)
            if of is None:
                return
            if versions is None:
                of.epoch += 1
            else:
                for thread, version in versions.items():
                    for everything in (False, True):
                        key = (of.number, thread, everything)
                        if key in self._kept and self._kept[key].version != version:
                            self._drop(key)
            of.asked = asked

    def forget(self, saver: Any, thread: str) -> None:
        """Drops what is held of the thread."""
        with self._lock:
            of = self._of(saver)
            if of is not None:
                self._drop((of.number, thread, False))
                self._drop((of.number, thread, True))

    def clear(self) -> None:
        """Forgets everything, as a new process would know it."""
        with self._lock:
            self._kept.clear()
            self._savers.clear()
            self._chars = 0

    def _of(self, saver: Any) -> _Saver | None:
        try:
            known = self._savers.get(saver)
            if known is None:
                # Not by id(), which another checkpointer may get once this one is gone.
                self._numbers += 1
                known = self._savers[saver] = _Saver(self._numbers)
        except TypeError:
            # Cannot be referred to weakly, or has no hash.
            return None
        return known

    def _used(self, key: tuple[int, str, bool]) -> _Kept | None:
        kept = self._kept.get(key)
        if kept is not None:
            self._kept.move_to_end(key)
        return kept

    def _drop(self, key: tuple[int, str, bool]) -> None:
        gone = self._kept.pop(key, None)
        if gone is not None:
            self._chars -= gone.transcript.chars


@dataclass(frozen=True, slots=True)
class LastAsked:
    """When a checkpointer was last asked what changed.

    Attributes:
        at: ISO 8601 in UTC, "" for never.
        newest: when its newest checkpoint then was made.
    """

    at: str = ""
    newest: str = ""


@dataclass(slots=True)
class _Kept:
    version: str
    transcript: Transcript
    epoch: int


@dataclass(slots=True)
class _Saver:
    number: int
    epoch: int = 0
    asked: LastAsked = LastAsked()


CACHE = TranscriptCache()
