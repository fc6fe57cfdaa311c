"""The memory's four tools: `remember`, `recall`, `forget` and `ask_user`.

A model's arguments are hostile: of any type, any length, with any bytes. Each tool answers with one
plain sentence and never raises, but for the interrupt of `ask_user`.
"""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.errors import GraphBubbleUp
from langgraph.prebuilt import ToolRuntime
from langgraph.types import Command, interrupt
from pydantic import BaseModel, Field, WithJsonSchema, create_model

from . import answers, charter, wiring
from .books import Opening, Where, Work, Writing, ado, do
from .characters import clean, one_line
from .guard import is_own, own_code
from .heard import answer_of, with_answer
from .indexing import is_down, rank_for
from .looking import looked_through
from .notes import KINDS
from .recall import OUTCOME, SCOPE_BYTES, recall, render_recall
from .runs import ended_by, with_gone
from .scopes import SESSION
from .scrubbing import scrub
from .session import SCOPE, Call, Session, is_saved
from .settings import Settings
from .state import LEDGER, RUN, issue_events
from .turns import decide_in_turn

_log = logging.getLogger("langmem_credit")

_QUESTION_CHARS = 1_000
# What a host may well mean by no answer; anything else without a text is a mistake of its own.
_NO_ANSWERS: tuple[object, ...] = (None, "", {"answer": ""}, {"choice": ""}, {"option": ""})

# The model is told a type; whatever it passes instead gets an answer rather than a traceback.
Text = Annotated[Any, WithJsonSchema({"type": "string"})]
Kind = Annotated[Any, WithJsonSchema({"type": "string", "enum": list(KINDS)})]
RecallKind = Annotated[Any, WithJsonSchema({"type": "string", "enum": [*KINDS, OUTCOME]})]
Flag = Annotated[Any, WithJsonSchema({"type": "boolean"})]
Count = Annotated[Any, WithJsonSchema({"type": "integer", "minimum": 1, "maximum": 20})]


class RememberArguments(BaseModel):
    """What `remember` takes."""

    note: Text = Field(description=charter.NOTE)
    said: Text = Field(description=charter.SAID)
    kind: Kind = Field(default=None, description=charter.KIND)
    about: Text = Field(default=None, description=charter.ABOUT)
    core: Flag = Field(default=None, description=charter.CORE)
    id: Text = Field(default=None, description=charter.REPLACES)


class RecallArguments(BaseModel):
    """What `recall` takes."""

    query: Text = Field(default=None, description=charter.QUERY)
    id: Text = Field(default=None, description=charter.NOTE_ID)
    about: Text = Field(default=None, description=charter.RECALL_ABOUT)
    kind: RecallKind = Field(default=None, description=charter.RECALL_KIND)
    limit: Count = Field(default=None, description=charter.LIMIT)
    cursor: Text = Field(default=None, description=charter.CURSOR)


class ForgetArguments(BaseModel):
    """What `forget` takes."""

    said: Text = Field(description=charter.FORGET_SAID)
    query: Text = Field(default=None, description=charter.FORGET_QUERY)
    id: Text = Field(default=None, description=charter.NOTE_ID)
    why: Text = Field(default=None, description=charter.WHY)


class AskArguments(BaseModel):
    """What `ask_user` takes."""

    question: Text = Field(description=charter.QUESTION)


Body = Callable[[Settings, dict[str, Any], "ToolRuntime | None"], "Work[Any]"]


def create_remember_tool(settings: Settings) -> BaseTool:
    """`remember(note, said, kind?, about?, core?, id?)`."""
    schema = _offering(RememberArguments, settings, charter.SCOPE)
    return _tool("remember", charter.REMEMBER, schema, _writes("remember"), settings)


def create_recall_tool(settings: Settings) -> BaseTool:
    """`recall(query or id, about?, kind?, limit?, cursor?)`."""
    schema = _offering(RecallArguments, settings, charter.ONE_SCOPE)
    return _tool("recall", charter.RECALL, schema, _recall, settings)


def create_forget_tool(settings: Settings) -> BaseTool:
    """`forget(query or id, said, why?)`."""
    schema = _offering(ForgetArguments, settings, charter.ONE_SCOPE)
    return _tool("forget", charter.FORGET, schema, _writes("forget"), settings)


def create_ask_user_tool(settings: Settings) -> BaseTool:
    """`ask_user(question)`: an interrupt whose answer counts as typed, unless it was picked.

    The interrupt's value is `{"type": "ask_user", "question": …}`. It is resumed with the text that
    the person typed (or `{"answer": text}`), or with `{"choice": text}` (or `{"option": text}`) for
    one that they picked; anything else is no answer.
    """
    return _tool("ask_user", charter.ASK_USER, AskArguments, _ask, settings)


def create_tools(settings: Settings) -> list[BaseTool]:
    """The tools that these settings offer."""
    offered = [create_recall_tool(settings), create_forget_tool(settings)]
    if settings.enabled:
        offered.insert(0, create_remember_tool(settings))
    if settings.questions:
        offered.append(create_ask_user_tool(settings))
    return offered


def _writes(name: str) -> Body:
    def body(settings: Settings, args: dict[str, Any], runtime: ToolRuntime | None) -> Work[Any]:
        session = yield from _session(settings, runtime)
        if session is None or runtime is None:
            return answers.NO_MEMORY
        call = _call(name, args, session, runtime)
        decision = decide_in_turn(session, call)
        if not decision.events:
            return decision.answer
        call_id = runtime.tool_call_id or ""
        message = ToolMessage(decision.answer, name=name, tool_call_id=call_id)
        book = session.book(decision.scope)
        if book is None:
            wiring.WROTE.add(call.message)
            _log.info("%s: %s %s", name, decision.outcome, decision.note_id)
            return Command(update={LEDGER: issue_events(decision.events), "messages": [message]})
        # Said to be saved only when the store has been asked and holds it.
        problem = yield Writing(book, decision.events)
        if problem:
            return answers.not_written(name, decision.scope, problem)
        wiring.WROTE.add(call.message)
        _log.info("%s: %s %s", name, decision.outcome, decision.note_id)
        message.artifact = {SCOPE: decision.scope}
        update: dict[str, Any] = {"messages": [message]}
        ended = [note_id for event in decision.events for note_id in ended_by(event)]
        if ended and session.run.digest is not None:
            update[RUN] = with_gone(session.run, ended).record()
        return Command(update=update)

    return body


def _recall(settings: Settings, args: dict[str, Any], runtime: ToolRuntime | None) -> Work[str]:
    session = yield from _session(settings, runtime)
    if session is None:
        return answers.NO_MEMORY
    limit = args.get("limit")
    looked = looked_through(session, args.get("scope"))
    found = recall(
        looked.shelf.notebook,
        query=args.get("query"),
        note_id=args.get("id"),
        about=args.get("about"),
        kind=args.get("kind"),
        **({} if limit is None else {"limit": limit}),
        cursor=args.get("cursor"),
        rank=rank_for(session, looked.shelf),
        limits=settings.limits,
        spare=SCOPE_BYTES if session.books else 0,
    )
    places = looked.shelf.places if session.books else None
    remarks = [looked.unread, answers.WORDS_ALONE if is_down(settings) else ""]
    return render_recall(
        found,
        session.run.as_of,
        limits=settings.limits,
        places=places,
        unread="\n".join(filter(None, remarks)),
    )


def _ask(settings: Settings, args: dict[str, Any], runtime: ToolRuntime | None) -> Work[Any]:
    asked = args.get("question")
    if not isinstance(asked, str):
        return answers.must_be_text("ask_user", "question", asked)
    asked = asked.strip()
    # Before it is read: a megabyte would take seconds.
    if len(asked) > _QUESTION_CHARS:
        return f"The question has {len(asked)} characters; at most {_QUESTION_CHARS} fit."
    question = scrub(clean(asked)).text.strip()
    if not question:
        return "ask_user needs a question."
    if runtime is None or not is_saved(runtime.config):
        return "Nobody can be asked: only an agent with a checkpointer can wait for an answer."
    value = interrupt({"type": "ask_user", "question": question})
    text, via = answer_of(value)
    if not text.strip():
        if not text and value not in _NO_ANSWERS:
            wiring.warn_once(wiring.NOT_ANSWERED)
        return "The person gave no answer."
    shown = scrub(clean(text)).text
    answer = shown if via == "answer" else f"The person picked: {one_line(shown)}"
    session = Session.read(settings, runtime.state, runtime.config)
    if session is None:
        wiring.warn_once(wiring.NO_CHANNELS)
        return answer
    _look_at_guard(runtime)
    call_id = runtime.tool_call_id or ""
    heard = with_answer(session.run, runtime.config, call_id, question, value)
    if heard is session.run:
        return answer
    message = ToolMessage(answer, name="ask_user", tool_call_id=call_id)
    return Command(update={RUN: heard.record(), "messages": [message]})
    # Asks for no book, but is driven as the others are.
    yield  # type: ignore[unreachable]


def _session(settings: Settings, runtime: ToolRuntime | None) -> Work[Session | None]:
    session = None if runtime is None else Session.read(settings, runtime.state, runtime.config)
    if session is None:
        wiring.warn_once(wiring.NO_CHANNELS)
        return None
    if runtime is None:
        return session
    _look_at_guard(runtime)
    if not settings.scopes:
        return session
    where = Where.of(runtime, runtime.config)
    books = yield Opening(settings.scopes, where, session.run.speaker)
    return session.with_books(books)


def _look_at_guard(runtime: ToolRuntime) -> None:
    if not _is_guarded(runtime):
        wiring.warn_once(wiring.NOT_GUARDED)


def _is_guarded(runtime: ToolRuntime) -> bool:
    """True when a guard stands around the other tools of the node, or there are none."""
    if all(is_own(tool) for tool in runtime.tools):
        return True
    return not runtime.tool_call_id or runtime.tool_call_id in wiring.GUARDED


def _call(name: str, args: dict[str, Any], session: Session, runtime: ToolRuntime) -> Call:
    """The call that is answered, as the model's message has it where it does."""
    call_id = runtime.tool_call_id or ""
    given = {key: value for key, value in args.items() if value is not None}
    same = [call for call in session.last_calls() if call.id == call_id and call.name == name]
    for call in same:
        if {key: value for key, value in call.args.items() if key in given} == given:
            return call
    message = same[0].message if same else ""
    return Call(name, given, call_id, message)


def _tool(
    name: str, description: str, schema: type[BaseModel], body: Body, settings: Settings
) -> BaseTool:
    def run(runtime: ToolRuntime = None, **args: Any) -> Any:  # type: ignore[assignment]
        try:
            return do(body(settings, args, runtime))
        except GraphBubbleUp:
            raise
        except Exception as error:  # noqa: BLE001 - a model gets a sentence, never a traceback
            return _failed(name, error)

    async def arun(runtime: ToolRuntime = None, **args: Any) -> Any:  # type: ignore[assignment]
        try:
            return await ado(body(settings, args, runtime))
        except GraphBubbleUp:
            raise
        except Exception as error:  # noqa: BLE001 - a model gets a sentence, never a traceback
            return _failed(name, error)

    def lacking(error: Any) -> str:
        names = sorted({str(part["loc"][0]) for part in error.errors() if part["loc"]})
        return f"{name} needs {' and '.join(names) or 'other arguments'}. Nothing was changed."

    own_code(run, arun)
    return StructuredTool.from_function(
        run,
        arun,
        name=name,
        description=description,
        args_schema=schema,
        handle_validation_error=lacking,
    )


def _failed(name: str, error: Exception) -> str:
    # Where, and not the message: it may quote what was said.
    place = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{Path(place.filename).name}:{place.lineno}"
    _log.error("%s failed: %s at %s", name, type(error).__name__, where)
    return answers.FAILED


def _offering(schema: type[BaseModel], settings: Settings, description: str) -> type[BaseModel]:
    """What the tool takes, with the scopes that the host declared for its choice of one."""
    if not settings.scopes:
        return schema
    names = [SESSION, *(scope.name for scope in settings.scopes)]
    choice = Annotated[Any, WithJsonSchema({"type": "string", "enum": names})]
    return create_model(
        schema.__name__,
        __base__=schema,
        __doc__=schema.__doc__,
        scope=(choice, Field(default=None, description=description)),
    )


__all__ = [
    "create_ask_user_tool",
    "create_forget_tool",
    "create_recall_tool",
    "create_remember_tool",
    "create_tools",
]
