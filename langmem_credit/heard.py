"""What the person typed in this run: a function of the state and of the recorded invocation.

A run begins with new input and ends before the next; answers to its interrupts belong to it, in
whatever process they arrive. Nothing else does: not `invoke(None)`, which only finishes the tool
calls that a run left behind when it broke off, with the words that this run had heard; not a
`Command` that updates or jumps, not a message that `update_state`, a middleware or a tool put into
the state, and nothing within a graph that another graph, a tool or a node started.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage

from .events import name_of
from .marks import MARK, NOT_TYPED, Spoken, made_by_code, mark, mark_code, not_typed, text_of
from .notes import Utterance, utc_now
from .recent import FirstSeen
from .recorder import Run, find_run, install
from .runs import HeardRun, stored_run
from .scrubbing import scrub
from .state import LEDGER, RUN, RunRecord
from .wiring import Seen

__all__ = [
    "MARK",
    "NOT_TYPED",
    "HeardRun",
    "hear",
    "install",
    "mark",
    "mark_code",
    "not_typed",
    "with_answer",
]

# The end of what the agent said before: enough to see that it asked, and what. A question of
# `ask_user` is kept whole.
_ASKED = 1_000
_LOOKED_AT = 2_000
# A longer text is no single statement; what is left still shows how it begins and ends.
_MOST = 20_000
# So far beyond a cut a text is read, so that no half of a secret is left before it.
_MARGIN = 4_000
# Runs that go on with another one, and have called a model since. In this process only, which is
# the one that such a run lives in.
_THINKING = Seen()
_BEGAN = FirstSeen(20_000)
_MOVED = FirstSeen(20_000)
# Question marks: Latin, full-width, Arabic, Greek, Armenian.
_ASKING = "?\uff1f\u061f\u037e\u055e"


def hear(state: Mapping[str, Any], config: Mapping[str, Any] | None = None) -> HeardRun:
    """The run that is going on. Pure but for the clock, which only a new run reads.

    Args:
        state: the graph's state, with its messages and the memory's channels.
        config: the config that the calling node or tool was given; the one in context otherwise.
    """
    messages = _messages(state)
    stored = state.get(RUN)
    stored = stored if isinstance(stored, dict) else {}
    run = find_run(config)
    invocation = None if run is None else run.graph
    run_id = _unrecorded(messages) if invocation is None else invocation.id
    if stored.get("run") == run_id:
        return stored_run(stored)
    if run is None or invocation is None or run.depth != 1:
        return _new_run(run_id, (), state, messages)
    if invocation.kind == "resume":
        if _goes_on(stored, messages):
            return stored_run(stored)
        return _new_run(run_id, (), state, messages)
    if invocation.kind == "none" and run_id not in _THINKING and _broke_off(stored, messages):
        new = _new_run(run_id, (), state, messages)
        return replace(new, heard=stored_run(stored).heard, carried=True)
    if invocation.kind != "input":
        return _new_run(run_id, (), state, messages)
    return _new_run(run_id, _heard(run, messages), state, messages)


def with_answer(
    run: HeardRun, config: Mapping[str, Any] | None, call_id: str, question: str, value: object
) -> HeardRun:
    """The run with an answer to `ask_user` added to what it heard.

    Free text was typed; a picked option (`{"choice": …}` or `{"option": …}`) is a click, since the
    model wrote it. The text must stand in what this invocation was resumed with.
    """
    text, via = answer_of(value)
    found = find_run(config)
    if not text or found is None or found.depth != 1 or found.graph.kind != "resume":
        return run
    spoken = {part.whole for part in found.root.spoken}
    if text not in found.root.answers and text not in spoken:
        return run
    # A model gives the call its id.
    text, call_id = _kept(text), name_of(call_id)
    if any((one.id.split("#")[0], one.text) == (call_id, text) for one in run.heard):
        # A tool node that runs all its calls again.
        return run
    # A model may give every call the same id.
    answer_id = _unused(call_id, [utterance.id for utterance in run.heard])
    at, asked = max(utc_now(), run.since), _end_of(question)
    answer = Utterance(answer_id, text, via, run.speaker, at, asked, asked)
    return replace(run, heard=(*run.heard, answer), recorded=False)


def answer_of(value: object) -> tuple[str, str]:
    """The text of a resume value, and "answer" when it was typed or "click" when it was picked.

    >>> answer_of("Use pnpm"), answer_of({"choice": "Use npm"}), answer_of(7)
    (('Use pnpm', 'answer'), ('Use npm', 'click'), ('', 'click'))
    """
    if isinstance(value, str):
        return value, "answer"
    if isinstance(value, Mapping):
        for name in ("choice", "option"):
            if isinstance(value.get(name), str):
                return value[name], "click"
        if len(value) == 1 and isinstance(value.get("answer"), str):
            return value["answer"], "answer"
    return "", "click"


def model_is_called(run: HeardRun) -> None:
    """From here on nothing counts that was heard by a run which broke off before."""
    if run.carried:
        _THINKING.add(run.id)


def moved_on(run: HeardRun, state: Mapping[str, Any]) -> HeardRun:
    """The run with its digest frozen anew where the messages were compacted since.

    A compaction takes the first message away, and with it everything that a model's cache of the
    conversation rested on.
    """
    first = first_of(_messages(state))
    if first == run.first:
        return run
    # Looked at by several steps, of which not each can record it.
    as_of = max(run.as_of, _MOVED.of(f"{run.id}\0{first}", _frozen_at(state, run.as_of)))
    return replace(run, as_of=as_of, first=first, recorded=False, digest=None)


def first_of(messages: Sequence[BaseMessage]) -> str:
    """Id of the first message that is no summary, or "": it goes with a compaction.

    A summary may be written into the state anew, under another id, at each step.
    """
    return next((_id(message) for message in messages if not is_summary(message)), "")


def is_summary(message: BaseMessage) -> bool:
    """True for what may stand for other messages: nobody's words, and no agent's."""
    return isinstance(message, SystemMessage) or made_by_code(message)


def _spoken(run: Run) -> list[Spoken]:
    """What the graph was started with, as far as the caller outside of it said it.

    The two are one, unless a chain stands around the graph: then the chain's code made the graph's
    input, and the chain's own input is what somebody may have typed.
    """
    if run.graph is run.root:
        return list(run.root.spoken)
    outside: dict[str, list[Spoken]] = {}
    for spoken in run.root.spoken:
        outside.setdefault(spoken.whole, []).append(spoken)
    said: list[Spoken] = []
    for spoken in run.graph.spoken:
        parts = outside.pop(spoken.whole, None)
        if parts and all(part.via == "input" for part in parts):
            parts = [other for other in run.graph.spoken if other.whole == spoken.whole]
        said += parts or []
    return said


def _heard(run: Run, messages: Sequence[BaseMessage]) -> tuple[Utterance, ...]:
    """The utterances of an input, as far as they stand in the state as they were handed in."""
    said = _spoken(run)
    places = _places({spoken.whole for spoken in said}, messages)
    said_before = _said_before(messages, set(places.values()))
    asked, before = scrub(question_in(said_before)).text, _end_of(said_before)
    heard: list[Utterance] = []
    seen: set[str] = set()
    for spoken in said:
        place = places.get(spoken.whole)
        if place is None or not spoken.text.strip():
            continue
        utterance_id = _unused(place, seen)
        seen.add(utterance_id)
        text = _kept(spoken.text)
        heard.append(Utterance(utterance_id, text, spoken.via, spoken.speaker, "", asked, before))
    return tuple(heard)


def _kept(text: str) -> str:
    """The text as the run keeps it and as it is judged: without secrets, and not without end.

    Judging it so gives the same verdict in a process that has only the record.
    """
    if len(text) <= _MOST:
        return scrub(text).text
    half = _MOST // 2
    begins, ends = text[: half + _MARGIN], text[-half - _MARGIN :]
    return f"{scrub(begins).text[:half]}\n{scrub(ends).text[-half:]}"


def _end_of(text: str) -> str:
    return scrub(text[-_ASKED - _MARGIN :]).text[-_ASKED:]


def _places(texts: set[str], messages: Sequence[BaseMessage]) -> dict[str, str]:
    """Each text to the id of the newest human message that says it."""
    wanted = set(texts)
    places: dict[str, str] = {}
    for message in reversed(messages):
        if not wanted:
            break
        if isinstance(message, HumanMessage) and not made_by_code(message):
            text = text_of(message.content)
            if text in wanted:
                wanted.discard(text)
                places[text] = _id(message)
    return places


def _unused(message_id: str, seen: Iterable[str]) -> str:
    """The id, numbered from the second utterance on that has it."""
    taken = sum(1 for known in seen if known.split("#")[0] == message_id)
    return message_id if not taken else f"{message_id}#{taken + 1}"


def _said_before(messages: Sequence[BaseMessage], ids: Collection[str]) -> str:
    """What the agent said to the person before the messages of these ids, or ""."""
    first = next((at for at, one in enumerate(messages) if _id(one) in ids), len(messages))
    for message in reversed(messages[:first]):
        if isinstance(message, HumanMessage) and not made_by_code(message):
            break
        # A message that only calls tools says nothing.
        if isinstance(message, AIMessage) and (text := text_of(message.content)).strip():
            return text
    return ""


def question_in(text: str) -> str:
    """The question that a text ends with, or "".

    >>> question_in("Done. Which package manager do you use?"), question_in("Why? Because.")
    ('Done. Which package manager do you use?', '')
    """
    end = text[-_LOOKED_AT:].rstrip()
    # A question may be closed by emphasis, a quotation mark or a smiley.
    while end and not end[-1].isalnum() and end[-1] not in "?？؟;՞።!.。":
        end = end[:-1]
    return end[-_ASKED:] if end and end[-1] in _ASKING else ""


def _goes_on(stored: RunRecord, messages: Sequence[BaseMessage]) -> bool:
    """True when the state's record is of the run that is resumed here.

    A run is recorded by its first model call (or by a node before it). When it was interrupted
    before that, the record is still of the run before, and that one has ended: a human message
    stands after the last one it saw, or its final answer does.
    """
    if not stored.get("run"):
        return False
    newest = _newest_human(messages)
    if newest and newest != stored.get("last", ""):
        return False
    return stored.get("listened") is True or not _answered(messages, stored.get("last", ""))


def _broke_off(stored: RunRecord, messages: Sequence[BaseMessage]) -> bool:
    """True when the run of the state's record did not come to its final answer."""
    return _goes_on(stored, messages) and not _answered(messages, stored.get("last", ""))


def _answered(messages: Sequence[BaseMessage], last: str) -> bool:
    """True when a model's message without tool calls stands after the message of this id."""
    for message in reversed(messages):
        if isinstance(message, AIMessage) and not message.tool_calls:
            return True
        if message.id == last:
            return False
    return False


def _newest_human(messages: Sequence[BaseMessage]) -> str:
    for message in reversed(messages):
        if isinstance(message, HumanMessage) and not made_by_code(message):
            return _id(message)
    return ""


def _new_run(
    run_id: str,
    heard: tuple[Utterance, ...],
    state: Mapping[str, Any],
    messages: Sequence[BaseMessage],
) -> HeardRun:
    as_of = _frozen_at(state, "")
    # A run that nothing has recorded yet is looked at several times, and began before all of them.
    since = as_of if run_id.startswith("?") else min(as_of, _BEGAN.of(run_id, as_of))
    first = first_of(messages)
    timed = tuple(replace(utterance, at=since) for utterance in heard)
    return HeardRun(run_id, timed, as_of, since, first, _newest_human(messages), recorded=False)


def _frozen_at(state: Mapping[str, Any], earlier: str) -> str:
    """Now, but never before an event that the ledger holds: the clock may have been set back."""
    events = state.get(LEDGER) or []
    newest = max((event.get("at", "") for event in events if not event.get("held")), default="")
    return max(utc_now(), newest, earlier)


def _messages(state: Mapping[str, Any]) -> list[BaseMessage]:
    messages = state.get("messages") or []
    return [message for message in messages if isinstance(message, BaseMessage)]


def _id(message: BaseMessage) -> str:
    return message.id or ""


def _unrecorded(messages: Sequence[BaseMessage]) -> str:
    """Names a run that no recorder saw, so that its digest at least stays the same."""
    return f"?{_newest_human(messages)[-15:]}"
