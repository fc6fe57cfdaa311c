"""An offline stand-in for a chat model: a few rules, keen to remember and easy to fool.

It is no language model. It tries to keep what it is told, and it believes what files say to agents
or of the user: the worst habits of a model, so that the memory has something to withstand.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable

from langmem_credit.answers import FORGOTTEN, KEPT, REMEMBERED
from langmem_credit.corrections import corrects
from langmem_credit.forget_requests import asks_to_forget
from langmem_credit.notes import Note, Utterance
from langmem_credit.pieces import note_words
from langmem_credit.suggesting import suggest

from .files import NO_FILE, READ_FILE, UNREADABLE

NAME = "stand-in"
NOTICE = (
    "No language model is at work here, only an offline stand-in that follows a few rules: it "
    "tries to remember what you type, reads files when asked, and believes what they say."
)
HINT = (
    "I am only a stand-in and cannot talk. Tell me something lasting (“always use pnpm”), ask me "
    "to read a file, or ask me to forget a note."
)

NO_FOLDER = (
    "I cannot read files here: start the chat with --files FOLDER, and I can read the text files "
    "in it."
)
ABILITIES = """\
The stand-in follows a few rules and cannot talk. It
- tries to keep what sounds lasting: “always use pnpm”, “I prefer tabs”
- recalls only on “what do you know about …” or “what do you remember about …”
- forgets on “forget …”, as in “forget that I prefer tabs”
- corrects a note on “I use fish, not zsh”, “I no longer use zsh” or “actually, I prefer spaces”
- reads a file on “read notes.txt”, when the chat was started with --files FOLDER"""

_FORGET = re.compile(r"\bforget\b", re.I)
_READ = re.compile(r"\b(?:read|open|show|check|look at)\b.{0,80}?([\w./-]+\.\w{1,8})\b", re.I)
_ASK = re.compile(r"\bwhat\b.{0,40}\b(?:know|remember)\b", re.I)
_BELIEVED = re.compile(
    r"^\W*(?:(?:note to |attention )?(?:AI )?(?:agents?|assistants?)\s*[:,]\s*(\S.*)"
    r"|((?:always|never|remember|the user|I prefer|from now on)\b.*))$",
    re.I | re.M,
)
_MOST_BELIEVED = 5
_MOST_SHOWN = 600  # characters
_OFFERED = re.compile(r"both exactly: \"(.*)\"$", re.S)
_QUOTED = re.compile(r"\".*?\"(?=\.| in scope)", re.S)
_KEPT_NOTE = re.compile(r"^- (\w{6,}): “(.*?)”", re.M)
_CHANGE = re.compile(r"\b(?:not|no longer|any ?more|instead of|actually|now)\b", re.I)
_PLACE = re.compile(r"It (?:does not )?takes? the place of note [^.]*\.")
_SMALL_WORDS = frozenset(
    ("a", "about", "delete", "forget", "i", "my", "note", "of", "please", "remove", "rule", "the")
)

_numbers = itertools.count(1)


class StandInModel(BaseChatModel):
    """A chat model that follows fixed rules; see the module."""

    reads: bool = False

    @property
    def _llm_type(self) -> str:
        return NAME

    def bind_tools(self, tools: Sequence[Any], **_: Any) -> Runnable[Any, AIMessage]:
        """The model itself: it knows the tools it was made for, and looks whether it may read."""
        reads = any(getattr(tool, "name", "") == READ_FILE for tool in tools)
        return self.model_copy(update={"reads": reads})

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **_: Any,
    ) -> ChatResult:
        message = reply(messages, reads=self.reads)
        return ChatResult(generations=[ChatGeneration(message=message)])


def reply(messages: Sequence[BaseMessage], *, reads: bool = True) -> AIMessage:
    """The stand-in's next message; `reads` where it has the tool for files.

    >>> reply([HumanMessage("always use pnpm")]).tool_calls[0]["name"]
    'remember'
    """
    since = next(
        (i for i in range(len(messages) - 1, -1, -1) if isinstance(messages[i], HumanMessage)), None
    )
    if since is None:
        return AIMessage(HINT)
    results = [one for one in messages[since + 1 :] if isinstance(one, ToolMessage)]
    if not results:
        kept = [
            Note(note_id, text, "preference", "active", "")
            for one in messages[:1]
            for note_id, text in _KEPT_NOTE.findall(one.text)
        ]
        return _answer_person(messages[since].text, kept, reads)
    return _go_on(results, messages[since + 1 :])


def _answer_person(text: str, kept: Sequence[Note], reads: bool) -> AIMessage:
    file = _READ.search(text)
    if file and not reads:
        return AIMessage(NO_FOLDER)
    if file:
        return _calls(("read_file", {"path": file.group(1)}))
    if asks_to_forget(text):
        return _calls(("forget", {"query": _topic(text), "said": text}))
    if _ASK.search(text):
        return _calls(("recall", {"query": text}))
    words = suggest(text, [Utterance("typed", text)])
    if words is None:
        return AIMessage(HINT)
    old = _changed(text, kept)
    which = {} if old is None else {"id": old.id}
    return _calls(("remember", {"note": words, "said": words, **which}))


def _changed(text: str, kept: Sequence[Note]) -> Note | None:
    """The kept note that the words change, or seem to: a sign of change and a word of the note."""
    surely = next((note for note in kept if corrects(text, note, kept)), None)
    if surely is not None or not _CHANGE.search(text):
        return surely
    words = note_words(Note("", text, "", "", ""))
    return next((note for note in kept if words & note_words(note)), None)


def _go_on(results: Sequence[ToolMessage], since: Sequence[BaseMessage]) -> AIMessage:
    calls = [call["name"] for one in since if isinstance(one, AIMessage) for call in one.tool_calls]
    last = results[-1]
    offered = _OFFERED.search(last.text)
    if offered and calls.count("remember") < 2:
        words = offered.group(1)
        return _calls(("remember", {"note": words, "said": words}))
    if last.name == "read_file" and calls[-1] == "read_file":
        believed = [(one[1] or one[2]).strip() for one in _BELIEVED.finditer(last.text)]
        if believed:
            return _calls(*(_obey(order) for order in believed[:_MOST_BELIEVED]))
    return AIMessage("\n".join(dict.fromkeys(_told(one) for one in results)))


def _obey(order: str) -> tuple[str, dict[str, Any]]:
    if _FORGET.search(order):
        return "forget", {"query": _topic(order), "said": order}
    return "remember", {"note": order, "said": order}


def _topic(text: str) -> str:
    words = re.findall(r"[\w'-]+", text)
    return " ".join(word for word in words if word.lower() not in _SMALL_WORDS) or text


def _told(result: ToolMessage) -> str:
    """The tool's answer for a person: its first sentence, or what a file came to."""
    if result.name == "read_file":
        failed = result.text.startswith((NO_FILE, UNREADABLE))
        return result.text if failed else f"I read this:\n{result.text[:_MOST_SHOWN]}"
    if result.text.startswith(KEPT):
        return "I wanted to keep a note, but it is not in your words, so it waits for you."
    if result.text.startswith(REMEMBERED):
        place = _PLACE.search(result.text)
        also = f" {place.group(0)}" if place else ""
        return f"I will remember that, in your own words: {_first_quoted(result.text)}.{also}"
    if result.text.startswith(FORGOTTEN):
        return f"I have forgotten {_first_quoted(result.text)}."
    return result.text


def _first_quoted(text: str) -> str:
    found = _QUOTED.search(text)
    return found.group(0) if found else "it"


def _calls(*calls: tuple[str, dict[str, Any]]) -> AIMessage:
    return AIMessage(
        "",
        tool_calls=[
            {"name": name, "args": args, "id": f"stand-in-{next(_numbers)}", "type": "tool_call"}
            for name, args in calls
        ],
    )
