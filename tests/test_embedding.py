"""Embedders of any kind, and the local model: found, checked, bounded."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from langmem_credit import deadlines as deadlines_module
from langmem_credit import embedding, local_model
from langmem_credit.commands import main
from langmem_credit.deadlines import BrokenCallError, Deadlines, OverdueError
from langmem_credit.embedding import EmbedderDownError, Model, Refused, Vectors, name_of
from langmem_credit.errors import MissingExtraError, MissingModelError
from langmem_credit.local_model import LocalModel, check_model, fetch_model, find_model
from tests.index_support import DIMENSION, BagOfWords

PACKAGED = find_model()


def size_of(vectors: Vectors) -> int:
    return vectors.model().dimension


# Deadlines.


def test_a_call_gives_what_it_gives() -> None:
    assert Deadlines("t").run(lambda: 7, 1.0) == 7


def test_a_calls_error_is_raised_where_it_is_awaited() -> None:
    with pytest.raises(KeyError):
        Deadlines("t").run(lambda: {}["x"], 1.0)


def test_a_panic_is_an_error() -> None:
    def panic() -> None:
        raise SystemExit("native code gave up")

    with pytest.raises(BrokenCallError, match="native code gave up"):
        Deadlines("t").run(panic, 1.0)


def test_a_call_that_hangs_is_left_after_its_time() -> None:
    stop = threading.Event()
    with pytest.raises(OverdueError, match=r"no answer within 0\.05 seconds"):
        Deadlines("t").run(lambda: stop.wait(20), 0.05)
    stop.set()


def test_after_a_call_that_hangs_others_go_on() -> None:
    stop = threading.Event()
    deadlines = Deadlines("t")
    with pytest.raises(OverdueError):
        deadlines.run(lambda: stop.wait(20), 0.05)
    assert deadlines.run(lambda: 7, 1.0) == 7
    stop.set()


def test_when_too_many_hang_further_calls_fail_at_once() -> None:
    stop = threading.Event()
    deadlines = Deadlines("t")
    for _ in range(4):
        with pytest.raises(OverdueError, match="no answer"):
            deadlines.run(lambda: stop.wait(20), 0.02)
    with pytest.raises(OverdueError, match="4 earlier calls hang"):
        deadlines.run(lambda: 7, 1.0)
    stop.set()


def test_calls_that_never_come_back_are_given_up_where_a_later_one_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(deadlines_module, "_LOOK_SECONDS", 0.1)
    stop = threading.Event()
    deadlines = Deadlines("t")
    for _ in range(4):
        with pytest.raises(OverdueError, match="no answer"):
            deadlines.run(lambda: stop.wait(20), 0.02)
    with pytest.raises(OverdueError, match="4 earlier calls hang"):
        deadlines.run(lambda: 7, 1.0)
    time.sleep(0.15)
    assert [deadlines.run(lambda: 7, 1.0) for _ in range(3)] == [7, 7, 7]
    stop.set()


def test_calls_that_come_back_late_make_room_again() -> None:
    stop = threading.Event()
    deadlines = Deadlines("t")
    for _ in range(4):
        with pytest.raises(OverdueError):
            deadlines.run(lambda: stop.wait(20), 0.02)
    stop.set()
    for _ in range(200):
        try:
            assert deadlines.run(lambda: 7, 1.0) == 7
            break
        except OverdueError:
            threading.Event().wait(0.01)
    else:
        pytest.fail("the threads were not given back")


def test_one_thread_does_one_call_at_a_time() -> None:
    deadlines = Deadlines("t")
    running: list[int] = []
    most = 0

    def work() -> None:
        nonlocal most
        running.append(1)
        most = max(most, len(running))
        threading.Event().wait(0.01)
        running.pop()

    threads = [threading.Thread(target=deadlines.run, args=(work, 5.0)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 1


def test_closing_ends_the_threads_and_a_later_call_works() -> None:
    deadlines = Deadlines("closing threads", 3)
    deadlines.run(lambda: 7, 1.0)
    deadlines.close()
    for _ in range(200):
        if not [one for one in threading.enumerate() if one.name == "closing threads"]:
            break
        threading.Event().wait(0.01)
    assert not [one for one in threading.enumerate() if one.name == "closing threads"]
    assert deadlines.run(lambda: 8, 1.0) == 8


# Any embedder.


def test_vectors_have_unit_length() -> None:
    vector = Vectors(BagOfWords()).of_query("dark mode")
    assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-6)


def test_a_question_is_embedded_once() -> None:
    calls: list[str] = []

    class Counting(BagOfWords):
        def embed_query(self, text: str) -> list[float]:
            calls.append(text)
            return super().embed_query(text)

    vectors = Vectors(Counting())
    vectors.of_query("dark mode")
    vectors.of_query("dark mode")
    assert calls == [embedding.SAMPLE_TEXT, "dark mode"]


def test_only_the_last_questions_are_kept() -> None:
    vectors = Vectors(BagOfWords())
    for number in range(200):
        vectors.of_query(f"question {number}")
    assert len(vectors._queries) == 64


@pytest.mark.parametrize("text", ["", " ", "\0", "\ud83d", "x" * 1_000_000])
def test_any_text_has_a_vector(text: str) -> None:
    assert not isinstance(Vectors(BagOfWords()).of_texts([text])[0], Refused)


def test_an_embedder_gets_no_half_characters_no_nul_and_a_bounded_text() -> None:
    embedder = BagOfWords()
    Vectors(embedder).of_texts(["a\ud83d\0b", "x" * 1_000_000])
    assert embedder.embedded == ["a? b", "x" * embedding.TEXT_CHARS]


@pytest.mark.parametrize("given", [None, [], [[1.0]] * 3, "ab", 7], ids=repr)
def test_an_answer_of_another_length_is_no_answer(given: Any) -> None:
    class Odd(BagOfWords):
        def embed_documents(self, texts: list[str]) -> Any:
            return given

    assert all(isinstance(one, Refused) for one in Vectors(Odd()).of_texts(["a", "b"]))


def test_one_bad_text_is_found_among_many() -> None:
    class Picky(BagOfWords):
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            if "bad" in texts:
                raise ValueError
            return super().embed_documents(texts)

    made = Vectors(Picky()).of_texts(["a", "b", "bad", "c", "d"])
    assert [isinstance(one, Refused) for one in made] == [False, False, True, False, False]


def test_an_embedder_that_is_down_is_told_by_its_class_of_error_and_no_text() -> None:
    class Down(BagOfWords):
        def embed_query(self, text: str) -> list[float]:
            raise ConnectionError(f"cannot embed {text}")

    with pytest.raises(EmbedderDownError) as down:
        Vectors(Down()).of_query("my secret plan")
    assert "it raised ConnectionError" in str(down.value)
    assert "secret" not in str(down.value)


def test_numpy_answers_will_do() -> None:
    class Arrays(BagOfWords):
        def embed_documents(self, texts: list[str]) -> Any:
            return np.array(super().embed_documents(texts), dtype=np.float16)

    assert len(Vectors(Arrays()).of_texts(["a", "b"])) == 2


def test_a_model_is_the_same_whatever_it_is_called() -> None:
    one = Vectors(BagOfWords()).model()
    assert one.same_as(Model("another name", one.dimension, one.sample))


@pytest.mark.parametrize(
    "other", [BagOfWords(dimension=12), BagOfWords(salt="x")], ids=["dimension", "weights"]
)
def test_another_model_is_told_apart(other: BagOfWords) -> None:
    other.model_name = "bag-of-words"
    assert not Vectors(BagOfWords()).model().same_as(Vectors(other).model())


def test_a_name_that_is_no_text_is_left_out() -> None:
    class Odd(BagOfWords):
        model_name = object()  # type: ignore[assignment]

    assert name_of(Odd()) == "Odd"


# The local model.


@pytest.fixture(scope="module")
def local() -> Iterator[Vectors]:
    vectors = Vectors(LocalModel())
    yield vectors
    vectors.close()


def test_the_package_holds_the_model() -> None:
    assert PACKAGED is not None
    check_model(PACKAGED)


def test_the_local_model_knows_what_is_alike(local: Vectors) -> None:
    question = local.of_query("Which editor does the person like?")
    editor, food = local.of_texts(["The user edits everything in vim", "The user is a vegan"])
    assert float(question @ editor) > float(question @ food)  # type: ignore[operator]


def test_the_local_model_gives_384_numbers(local: Vectors) -> None:
    assert size_of(local) == local_model.DIMENSION


def test_the_local_model_gives_the_same_for_the_same(local: Vectors) -> None:
    one, two = (local.of_texts(["dark mode"])[0] for _ in range(2))
    assert np.array_equal(one, two)  # type: ignore[arg-type]


def test_a_batch_changes_no_vector(local: Vectors) -> None:
    texts = ["dark mode", "a much longer text about the colour of the editor and its theme"]
    alone = local.of_texts(texts[:1])[0]
    assert np.allclose(alone, local.of_texts(texts)[0], atol=1e-5)  # type: ignore[arg-type]


def in_a_process(script: str, **variables: str) -> str:
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=180,
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout + ended.stderr


def test_the_hosts_threads_of_torch_are_left_as_they_were() -> None:
    told = in_a_process(
        "import threading, torch\n"
        "from langmem_credit.embedding import Vectors\n"
        "from langmem_credit.local_model import LocalModel\n"
        "torch.set_num_threads(2)\n"
        "inside = []\n"
        "class Watched(LocalModel):\n"
        "    def embed_query(self, text):\n"
        "        made = super().embed_query(text)\n"
        "        inside.append(torch.get_num_threads())\n"
        "        return made\n"
        "Vectors(Watched()).of_query('x')\n"
        "later = []\n"
        "thread = threading.Thread(target=lambda: later.append(torch.get_num_threads()))\n"
        "thread.start(); thread.join()\n"
        "print(inside[-1], torch.get_num_threads(), later[0])\n"
    )
    assert told == "1 2 2\n"


def test_the_local_model_reaches_for_no_network_and_says_nothing() -> None:
    told = in_a_process(
        "import sys\n"
        "reached = []\n"
        "sys.addaudithook(lambda event, _: reached.append(event)\n"
        "                 if event in ('socket.connect', 'socket.getaddrinfo') else None)\n"
        "from langmem_credit.local_model import LocalModel\n"
        "LocalModel().embed_query('x')\n"
        "print(reached)\n",
        HF_HUB_OFFLINE="0",
        TRANSFORMERS_OFFLINE="0",
    )
    assert told == "[]\n"


def test_importing_the_module_loads_nothing_heavy() -> None:
    told = in_a_process(
        "import sys\n"
        "from langmem_credit.local_model import LocalModel, find_model\n"
        "LocalModel(); find_model()\n"
        "print(sorted({'torch', 'sentence_transformers', 'transformers', 'numpy'}"
        " & set(sys.modules)))\n"
    )
    assert told == "[]\n"


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No package and an empty cache, which is given."""
    monkeypatch.setattr(local_model, "PACKAGE", "no_such_package_at_all")
    for name in ("SENTENCE_TRANSFORMERS_HOME", "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "huggingface" / "hub"


def put(folder: Path) -> Path:
    """A folder that looks like the model and holds other weights."""
    folder.mkdir(parents=True)
    (folder / "model.safetensors").write_bytes(b"weights")
    (folder / "config.json").write_text("{}")
    module = {"type": "sentence_transformers.models.Transformer"}
    (folder / "modules.json").write_text(json.dumps([module]))
    return folder


def snapshot(cache: Path, revision: str) -> Path:
    repository = "models--sentence-transformers--all-MiniLM-L6-v2"
    return cache / repository / "snapshots" / revision


def test_a_model_that_is_nowhere_is_not_found(nowhere: Path) -> None:
    assert find_model() is None


def test_the_error_names_both_remedies(nowhere: Path) -> None:
    with pytest.raises(
        MissingModelError,
        match=r"pip install 'langmem_credit\[model\]'.*langmem-credit fetch-model",
    ):
        LocalModel().embed_query("x")


def test_the_cache_of_hugging_face_is_looked_at(nowhere: Path) -> None:
    put(snapshot(nowhere, "abc"))
    assert find_model() == snapshot(nowhere, "abc")


def test_the_cache_prefers_the_revision_that_is_current(nowhere: Path) -> None:
    for revision in ("aaa", "bbb", "ccc"):
        put(snapshot(nowhere, revision))
    refs = snapshot(nowhere, "bbb").parent.parent / "refs"
    refs.mkdir()
    (refs / "main").write_text("bbb")
    assert find_model() == snapshot(nowhere, "bbb")


@pytest.mark.parametrize(
    ("variable", "below"),
    [("HF_HUB_CACHE", ""), ("HF_HOME", "hub"), ("SENTENCE_TRANSFORMERS_HOME", "")],
)
def test_the_cache_is_where_its_variables_say(
    nowhere: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str, below: str
) -> None:
    monkeypatch.setenv(variable, str(tmp_path / "other"))
    put(snapshot(tmp_path / "other" / below, "abc"))
    assert find_model() == snapshot(tmp_path / "other" / below, "abc")


def test_a_half_fetched_snapshot_is_not_taken(nowhere: Path) -> None:
    put(snapshot(nowhere, "abc"))
    (snapshot(nowhere, "abc") / "model.safetensors").unlink()
    assert find_model() is None


def test_a_folder_that_is_named_is_the_only_one_looked_at(tmp_path: Path) -> None:
    with pytest.raises(MissingModelError, match="does not hold it"):
        find_model(tmp_path)


def test_other_weights_are_refused_before_they_are_loaded(tmp_path: Path) -> None:
    with pytest.raises(MissingModelError, match=r"the weights in .* are not the known ones"):
        LocalModel(put(tmp_path / "model")).embed_query("x")


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("modules.json", '[{"type": "evil.Transformer"}]'),
        ("modules.json", "[]"),
        ("modules.json", "{}"),
        ("modules.json", '[{"type": "sentence_transformersx.models"}]'),
        ("config.json", '{"auto_map": {"AutoModel": "evil.Model"}}'),
    ],
)
def test_a_model_that_wants_code_of_its_own_run_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str, content: str
) -> None:
    digest = hashlib.sha256(b"weights").hexdigest()
    monkeypatch.setattr(local_model, "WEIGHTS_SHA256", digest)
    folder = put(tmp_path / "model")
    (folder / file).write_text(content)
    with pytest.raises(MissingModelError, match="wants code of its own to run"):
        check_model(folder)


@pytest.mark.parametrize("content", ["", "[]x", "[1]", "[{}]", "7"])
def test_a_model_whose_files_cannot_be_read_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str
) -> None:
    digest = hashlib.sha256(b"weights").hexdigest()
    monkeypatch.setattr(local_model, "WEIGHTS_SHA256", digest)
    folder = put(tmp_path / "model")
    (folder / "modules.json").write_text(content)
    with pytest.raises(MissingModelError, match="cannot be read"):
        check_model(folder)


def test_nothing_is_fetched_unless_it_is_allowed(
    nowhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local_model, "fetch_model", lambda: pytest.fail("it was fetched"))
    with pytest.raises(MissingModelError):
        LocalModel().embed_query("x")


def test_it_is_fetched_where_it_is_allowed(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert PACKAGED is not None
    monkeypatch.setattr(local_model, "fetch_model", lambda: PACKAGED)
    assert len(LocalModel(allow_download=True).embed_query("x")) == local_model.DIMENSION


def test_a_fetch_that_fails_says_so(nowhere: Path) -> None:
    with pytest.raises(MissingModelError, match="fetching it raised"):
        fetch_model()


def test_what_was_fetched_is_checked(
    nowhere: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = put(tmp_path / "fetched")
    monkeypatch.setattr("huggingface_hub.snapshot_download", lambda *_, **__: str(folder))
    with pytest.raises(MissingModelError, match="are not the known ones"):
        fetch_model()


def test_without_the_extra_the_error_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'langmem_credit\[model\]'"):
        LocalModel().embed_query("x")


def test_the_command_says_where_the_model_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fetch-model"]) == 0
    assert f"is there already: {PACKAGED}" in capsys.readouterr().out


def test_the_command_says_what_went_wrong(
    nowhere: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["fetch-model"]) == 1
    assert "fetching it raised" in capsys.readouterr().err


def test_a_copy_of_the_model_will_do(tmp_path: Path) -> None:
    assert PACKAGED is not None
    shutil.copytree(PACKAGED, tmp_path / "model")
    assert len(LocalModel(tmp_path / "model").embed_documents(["a", "b"])) == 2


def test_the_support_embedder_has_its_dimension() -> None:
    assert size_of(Vectors(BagOfWords())) == DIMENSION
