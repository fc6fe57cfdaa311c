"""Every error this package raises: what failed, why, and the next step."""

from __future__ import annotations

_SHOWN = 60


def named(value: object) -> str:
    """What somebody passed, in a few words: never the whole of a note, a state or a long text.

    >>> named("k3m9xz"), named(None), named([1, 2]), named("x" * 99)[-4:]
    ("'k3m9xz'", 'None', 'a list', "xx'…")
    """
    if isinstance(value, str):
        return repr(value) if len(value) <= _SHOWN else f"{value[:_SHOWN]!r}…"
    if value is None or isinstance(value, bool | float):
        return repr(value)
    if isinstance(value, int):
        # A longer number cannot even be written out.
        return repr(value) if value.bit_length() <= _SHOWN else "a huge number"
    if isinstance(value, type):
        return f"the class {value.__name__}"
    kind = type(value).__name__
    return f"{'an' if kind[0] in 'AEIOUaeiou' else 'a'} {kind}"


class CreditError(Exception):
    """Base of all errors of this package."""


class UnknownNoteError(CreditError):
    """No note has this id.

    Attributes:
        note_id: the id that was asked for.
    """

    def __init__(self, note_id: object) -> None:
        self.note_id = note_id
        own = getattr(note_id, "id", None)
        if isinstance(note_id, str) and note_id.strip():
            problem = f"No note has the id {named(note_id)}. List the notes to see their ids."
        elif isinstance(note_id, str):
            problem = "The note id is empty. List the notes to see their ids."
        elif isinstance(own, str):
            problem = f"The note's id is needed, not {named(note_id)}. Pass its id: {named(own)}."
        else:
            problem = (
                f"A note's id is a short text, not {named(note_id)}. List the notes to see their "
                "ids."
            )
        super().__init__(problem)


class UnknownSessionError(CreditError):
    """The person has no session of this id.

    Attributes:
        session_id: the id that was asked for.
    """

    def __init__(self, session_id: object) -> None:
        self.session_id = session_id
        super().__init__(
            f"This person has no session {named(session_id)}. List the sessions to see their ids."
        )


class UnreadableSessionError(CreditError):
    """The checkpointer does not give a session's conversation.

    Attributes:
        session_id: of the session.
        cause: type of the error that reading it raised.
    """

    def __init__(self, session_id: str, cause: str) -> None:
        self.session_id = session_id
        self.cause = cause
        super().__init__(
            f"Session {named(session_id)} cannot be read now ({cause}). Look at the checkpointer, "
            "then try again; other sessions are not touched by this."
        )


class ChangedNoteError(CreditError):
    """The note is no longer the text that the person was shown.

    Attributes:
        note_id: the note.
        text: its text now.
    """

    def __init__(self, note_id: str, text: str) -> None:
        self.note_id = note_id
        self.text = text
        super().__init__(
            f"Note {note_id} changed after it was shown. It now says {text!r}. "
            "Read it and decide again."
        )


class RefusedWriteError(CreditError):
    """A write was refused and nothing was stored.

    Attributes:
        reason: why, in one plain sentence that names the remedy.
    """

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


class ForgedStateError(CreditError):
    """A caller tried to write a memory channel of a graph.

    Attributes:
        channel: the state key.
    """

    def __init__(self, channel: str) -> None:
        self.channel = channel
        super().__init__(
            f"The input writes the memory channel {channel!r}, which only the memory's own tools "
            "may write. Leave the key out; to change notes from code, call the memory's methods."
        )


class MissingExtraError(CreditError):
    """An optional dependency is not installed.

    Attributes:
        extra: the extra of this package that brings it.
    """

    def __init__(self, feature: str, extra: str) -> None:
        self.extra = extra
        super().__init__(
            f"{feature} needs an extra. Install it with: pip install 'langmem_credit[{extra}]'"
        )


class MissingModelError(CreditError):
    """The local model is not on this machine, or is not what it should be.

    Attributes:
        model: its name.
    """

    def __init__(self, model: str, why: str = "it was not found on this machine") -> None:
        self.model = model
        super().__init__(
            f"The model {model} cannot be used: {why}. Install it with: "
            "pip install 'langmem_credit[model]', or fetch it with: langmem-credit fetch-model"
        )


class ConfigurationError(CreditError):
    """The host configured the memory in a way that cannot work."""


class IdentityError(CreditError):
    """A run does not say whose notes a scope holds.

    Attributes:
        scope: name of the scope.
        name: of the value that is missing or cannot be used.
        problem: what is wrong with it.
    """

    def __init__(self, scope: str, name: str, problem: str) -> None:
        self.scope = scope
        self.name = name
        self.problem = problem
        super().__init__(
            f"Scope {scope!r} cannot be used: it needs {name}, and {problem}. Pass a text with "
            f"each run, as context={{{name!r}: …}} or config={{'configurable': {{{name!r}: …}}}}"
            + ("; on a LangGraph server the signed-in user counts." if name == "user_id" else ".")
        )


class StoreError(CreditError):
    """The store that holds a scope's notes did not do what it was asked.

    Attributes:
        scope: name of the scope.
        cause: type of the store's own error, or what was wrong with its answer.
    """

    def __init__(self, scope: str, cause: str) -> None:
        self.scope = scope
        self.cause = cause
        super().__init__(
            f"The store of scope {scope!r} cannot be used now ({cause}). Look at the store, then "
            "try again."
        )
