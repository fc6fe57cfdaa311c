"""Texts as unit vectors, from the local model or any LangChain `Embeddings`.

An embedder is not trusted to be well: what it gives is checked number by number, a text that it
refuses is told apart from an embedder that is down, and every call is bounded in time. A model is
recognised by what it does, not by what it is called: the first numbers of its vector for a fixed
sentence stand beside every index.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar, runtime_checkable

from .deadlines import BrokenCallError, Deadlines, OverdueError
from .errors import CreditError

if TYPE_CHECKING:
    import numpy as np

Vector: TypeAlias = "np.ndarray[Any, np.dtype[np.float32]]"
_T = TypeVar("_T")

SAMPLE_TEXT = "The person prefers tea to coffee."
SAMPLE_NUMBERS = 24
# Other processors and releases of the same arithmetic differ in the fifth digit.
_SAMPLE_TOLERANCE = 0.02
# A note has at most 500 characters, but limits are the host's to raise.
TEXT_CHARS = 4_000
# The first call may have to import torch and load the weights.
START_SECONDS = 90.0
_QUERIES_KEPT = 64


@runtime_checkable
class Embedder(Protocol):
    """What turns texts into vectors; every LangChain `Embeddings` is one."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """A vector for each text."""
        ...

    def embed_query(self, text: str) -> list[float]:
        """The vector of a question."""
        ...


class EmbedderDownError(CreditError):
    """The embedder gives no vectors now.

    Attributes:
        embedder: its name.
    """

    def __init__(self, embedder: str, why: str) -> None:
        self.embedder = embedder
        super().__init__(
            f"The embedder {embedder} failed: {why}. Recall is by words until it works."
        )


@dataclass(frozen=True, slots=True)
class Model:
    """What an index must know of the model that made its vectors.

    Attributes:
        name: for people; two names may be one model.
        dimension: numbers in a vector.
        sample: first numbers of the vector of `SAMPLE_TEXT`.
    """

    name: str
    dimension: int
    sample: tuple[float, ...]

    def same_as(self, other: Model) -> bool:
        """True when both give the same vectors, whatever they are called.

        >>> Model("a", 2, (0.6, 0.8)).same_as(Model("b", 2, (0.6001, 0.8)))
        True
        """
        return (
            self.dimension == other.dimension
            and len(self.sample) == len(other.sample)
            and all(
                abs(one - two) <= _SAMPLE_TOLERANCE
                for one, two in zip(self.sample, other.sample, strict=True)
            )
        )


@dataclass(frozen=True, slots=True)
class Refused:
    """Why a text has no vector."""

    reason: str


class Vectors:
    """An embedder's vectors, checked, of unit length, each call bounded in time.

    Args:
        embedder: the local model or any LangChain `Embeddings`.
        timeout_s: seconds that a call may take; the first one may take `START_SECONDS`.
    """

    def __init__(self, embedder: Embedder, *, timeout_s: float = 20.0) -> None:
        self.name = name_of(embedder)
        self._embedder = embedder
        self._timeout_s = timeout_s
        # One thread: the local model is no faster on two, and its threads are set on this one.
        self._deadlines = Deadlines("langmem_credit embedder")
        self._model: Model | None = None
        self._queries: OrderedDict[str, Vector] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def known(self) -> Model | None:
        """The model, where it was in use already."""
        return self._model

    def model(self) -> Model:
        """The model; the first call starts it.

        Raises:
            EmbedderDownError: it gives no vectors.
        """
        if self._model is None:
            vector = self._checked(
                self._call(lambda: self._embedder.embed_query(SAMPLE_TEXT), START_SECONDS)
            )
            if isinstance(vector, Refused):
                raise EmbedderDownError(self.name, vector.reason)
            sample = tuple(round(float(one), 4) for one in vector[:SAMPLE_NUMBERS])
            self._model = Model(self.name, len(vector), sample)
        return self._model

    def of_query(self, text: str) -> Vector | Refused:
        """The question's vector, or why it has none.

        Raises:
            EmbedderDownError: it gives no vectors.
        """
        plain = _plain(text)
        with self._lock:
            kept = self._queries.get(plain)
            if kept is not None:
                self._queries.move_to_end(plain)
                return kept
        self.model()
        try:
            return self._call(lambda: self._made(plain))
        except EmbedderDownError as down:
            return self._if_alive(down)

    def _made(self, plain: str) -> Vector | Refused:
        # Several scopes are asked the same question at once, and each waits here in turn.
        with self._lock:
            kept = self._queries.get(plain)
        if kept is not None:
            return kept
        vector = self._checked(self._embedder.embed_query(plain))
        if not isinstance(vector, Refused):
            with self._lock:
                self._queries[plain] = vector
                while len(self._queries) > _QUERIES_KEPT:
                    self._queries.popitem(last=False)
        return vector

    def of_texts(self, texts: Sequence[str]) -> list[Vector | Refused]:
        """A vector for each text, or why it has none.

        Raises:
            EmbedderDownError: it gives no vectors at all.
        """
        self.model()
        plain = [_plain(text) for text in texts]
        try:
            return self._batch(plain)
        except EmbedderDownError as down:
            refused = self._if_alive(down)
        if len(plain) == 1:
            return [refused]
        # One text may spoil a batch: find it by halves.
        middle = len(plain) // 2
        return [*self.of_texts(plain[:middle]), *self.of_texts(plain[middle:])]

    def close(self) -> None:
        """Ends the thread. A later call starts another."""
        self._deadlines.close()

    def _batch(self, texts: list[str]) -> list[Vector | Refused]:
        given = self._call(lambda: self._embedder.embed_documents(texts))
        try:
            count = len(given)
        except TypeError:
            count = -1
        if count != len(texts):
            raise EmbedderDownError(self.name, f"it gave {count} vectors for {len(texts)} texts")
        return [self._checked(one) for one in given]

    def _if_alive(self, down: EmbedderDownError) -> Refused:
        """The refusal of one text, where the embedder still answers a plain sentence."""
        cause = down.__cause__
        if isinstance(cause, OverdueError):
            # Trying again with less would hang once more, a thread each time.
            raise down
        self._call(lambda: self._embedder.embed_query(SAMPLE_TEXT))
        return Refused(_named(cause) if cause is not None else "the embedder gave no vector")

    def _call(self, work: Callable[[], _T], seconds: float | None = None) -> _T:
        try:
            return self._deadlines.run(work, seconds or self._timeout_s)
        except (OverdueError, BrokenCallError) as error:
            raise EmbedderDownError(self.name, str(error)) from error
        except CreditError as error:
            raise EmbedderDownError(self.name, str(error).rstrip(".")) from error
        except Exception as error:
            raise EmbedderDownError(self.name, _named(error)) from error

    def _checked(self, given: Any) -> Vector | Refused:
        import numpy as np

        try:
            vector = np.asarray(given, dtype=np.float32)
        except (TypeError, ValueError):
            return Refused("the embedder gave no list of numbers")
        if vector.ndim != 1 or not len(vector):
            return Refused("the embedder gave no list of numbers")
        if self._model is not None and len(vector) != self._model.dimension:
            return Refused(
                f"the embedder gave {len(vector)} numbers instead of {self._model.dimension}"
            )
        length = float(np.linalg.norm(vector.astype(np.float64)))
        if not np.isfinite(length) or length == 0.0:
            return Refused("the embedder gave a vector without a direction")
        unit: Vector = (vector / np.float32(length)).astype(np.float32)
        return unit


def name_of(embedder: object) -> str:
    """The embedder's class with its model's name where it tells one.

    >>> class Tiny:
    ...     model_name = "tiny-1"
    >>> name_of(Tiny())
    'Tiny tiny-1'
    """
    for attribute in ("model_name", "model", "model_id"):
        named = getattr(embedder, attribute, None)
        if isinstance(named, str) and named.strip():
            return f"{type(embedder).__name__} {named.strip()[:200]}"
    return type(embedder).__name__


def _plain(text: str) -> str:
    """The text as any tokenizer takes it: bounded, no half characters, no NUL, never empty."""
    whole = text[:TEXT_CHARS].encode("utf-8", "replace").decode("utf-8").replace("\0", " ")
    return whole if whole.strip() else "."


def _named(error: BaseException) -> str:
    # Messages may quote the text; the class names the fault and tells nobody's words.
    return f"it raised {type(error).__name__}"
