"""What an index folder survives: cuts, deletions, strangers, other processes, sudden deaths."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from langmem_credit import chroma_opening, chroma_scope
from langmem_credit.chroma_index import ChromaIndex
from langmem_credit.chroma_rows import collection_name, rows_of
from langmem_credit.folder_lock import hold
from langmem_credit.index import SyncReport
from tests.index_support import BagOfWords, files_of, note, numbered

ROOT = Path(__file__).parent.parent
INDEX_FILES = (
    "data_level0.bin",
    "header.bin",
    "index_metadata.pickle",
    "length.bin",
    "link_lists.bin",
    "chroma.sqlite3",
)
# Chroma writes its index files when so many rows have come in.
WRITTEN = 1_000


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "index"


@pytest.fixture
def opened(folder: Path) -> Iterator[list[ChromaIndex]]:
    indexes: list[ChromaIndex] = []
    yield indexes
    for index in indexes:
        index.close()


def open_index(folder: Path, opened: list[ChromaIndex], dimension: int = 48) -> ChromaIndex:
    index = ChromaIndex(folder, BagOfWords(dimension))
    opened.append(index)
    return index


def first(index: ChromaIndex, query: str, key: str = "ann") -> list[str]:
    return [hit.note_id for hit in index.search(key, query, 1)]


def child(script: str, folder: Path, *, wait: bool = True) -> subprocess.Popen[str]:
    """A process that runs the script with `folder` set and our package and tests on its path."""
    head = (
        "import sys, time\nfrom pathlib import Path\n"
        "from langmem_credit.chroma_index import ChromaIndex\n"
        "from tests.index_support import BagOfWords, numbered\n"
        f"folder = Path({str(folder)!r})\n"
    )
    paths = [str(ROOT), os.environ.get("PYTHONPATH", "")]
    process = subprocess.Popen(
        [sys.executable, "-c", head + textwrap.dedent(script)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    if wait:
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
        process.told = out  # type: ignore[attr-defined]
    return process


# What stands in the files.


def test_no_words_and_no_keys_stand_in_any_file(folder: Path, opened: list[ChromaIndex]) -> None:
    index = open_index(folder, opened)
    notes = [note(f"n{n:05d}", f"swordfish{n} in Zürich 成都", speaker="Ann") for n in range(50)]
    index.sync("ann@example.org", notes)
    index.search("ann@example.org", "sturgeon near Genève", 5)
    index.sync("ann@example.org", notes[:-10])
    index.close()
    content = b"".join(files_of(folder).values())
    words = ["swordfish", "Zürich", "成都", "sturgeon", "Genève", "example.org"]
    assert [word for word in words if word.encode() in content] == []


@pytest.mark.parametrize("count", [20, WRITTEN + 200])
def test_a_forgotten_notes_vector_stands_in_no_file(
    folder: Path, opened: list[ChromaIndex], count: int
) -> None:
    index = open_index(folder, opened)
    notes = numbered(count)
    index.sync("ann", notes)
    gone = [notes[7], notes[count - 1]]
    vectors = [np.asarray(index._vectors.of_texts([one.text])[0]).tobytes() for one in gone]  # type: ignore[union-attr]
    assert all(vector in b"".join(files_of(folder).values()) for vector in vectors)
    index.sync("ann", [one for one in notes if one not in gone])
    assert not any(vector in b"".join(files_of(folder).values()) for vector in vectors)
    index.close()
    later = open_index(folder, opened)
    assert later.sync("ann", [one for one in notes if one not in gone]).done
    assert not any(vector in b"".join(files_of(folder).values()) for vector in vectors)


def test_a_forgotten_vector_stays_gone_when_the_files_are_written_again(
    folder: Path, opened: list[ChromaIndex]
) -> None:
    index = open_index(folder, opened)
    notes = numbered(WRITTEN + 200)
    index.sync("ann", notes)
    vector = np.asarray(index._vectors.of_texts([notes[7].text])[0]).tobytes()  # type: ignore[union-attr]
    kept = notes[:7] + notes[8:]
    index.sync("ann", kept)
    index.sync("ann", kept + [note(f"m{n:05d}", f"more of word{n}") for n in range(WRITTEN + 10)])
    index.close()
    assert vector not in b"".join(files_of(folder).values())


def test_a_dropped_scope_leaves_no_file_of_its_own(folder: Path, opened: list[ChromaIndex]) -> None:
    index = open_index(folder, opened)
    index.sync("ann", numbered(WRITTEN + 1))
    index.drop("ann")
    index.close()
    assert sorted(files_of(folder)) == ["chroma/chroma.sqlite3", "lock", "record.json"]
    assert len(files_of(folder)["chroma/chroma.sqlite3"]) < 250_000


def test_syncing_the_same_again_and_again_grows_nothing(
    folder: Path, opened: list[ChromaIndex]
) -> None:
    index = open_index(folder, opened)
    index.sync("ann", numbered(200))
    before = sum(map(len, files_of(folder).values()))
    for _ in range(20):
        index.sync("ann", numbered(200))
    assert sum(map(len, files_of(folder).values())) == before


# Damage.


@pytest.mark.parametrize("name", INDEX_FILES)
@pytest.mark.parametrize("cut", ["half", "empty", "gone"])
def test_a_cut_file_means_a_new_index(
    folder: Path, opened: list[ChromaIndex], name: str, cut: str
) -> None:
    index = open_index(folder, opened, dimension=8)
    notes = numbered(WRITTEN + 100)
    index.sync("ann", notes)
    index.close()
    [path] = list(folder.rglob(name))
    if cut == "gone":
        path.unlink()
    else:
        os.truncate(path, path.stat().st_size // 2 if cut == "half" else 0)
    later = open_index(folder, opened, dimension=8)
    assert later.sync("ann", notes) == SyncReport(added=len(notes), indexed=len(notes))
    assert len(later.search("ann", "the things", 1_000)) == 1_000
    assert "made anew" in later.status().notice or name == "chroma.sqlite3"


def test_flipped_bytes_mean_a_new_index(folder: Path, opened: list[ChromaIndex]) -> None:
    index = open_index(folder, opened, dimension=8)
    notes = numbered(WRITTEN + 1)
    index.sync("ann", notes)
    index.close()
    [path] = folder.rglob("data_level0.bin")
    content = bytearray(path.read_bytes())
    content[1000:3000] = random.Random(7).randbytes(2000)
    path.write_bytes(content)
    assert open_index(folder, opened, dimension=8).sync("ann", notes).added == len(notes)


def test_a_copied_folder_is_not_taken_for_a_damaged_one(
    folder: Path, tmp_path: Path, opened: list[ChromaIndex]
) -> None:
    index = open_index(folder, opened, dimension=8)
    notes = numbered(WRITTEN + 1)
    index.sync("ann", notes)
    index.close()
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy, copy_function=shutil.copyfile)
    assert open_index(copy, opened, dimension=8).sync("ann", notes).added == 0


def test_a_folder_that_is_deleted_while_open_comes_back(
    folder: Path, opened: list[ChromaIndex]
) -> None:
    index = open_index(folder, opened)
    index.sync("ann", numbered(5))
    shutil.rmtree(folder)
    assert first(index, "word3") == ["n00003"]
    assert index.sync("ann", numbered(5)) == SyncReport(indexed=5)


def test_chromas_files_deleted_while_open_come_back(
    folder: Path, opened: list[ChromaIndex]
) -> None:
    index = open_index(folder, opened)
    index.sync("ann", numbered(5))
    shutil.rmtree(folder / "chroma")
    assert first(index, "word3") == ["n00003"]


def test_a_folder_of_another_release_is_made_anew(folder: Path, opened: list[ChromaIndex]) -> None:
    index = open_index(folder, opened)
    index.sync("ann", numbered(5))
    index.close()
    record = folder / "record.json"
    record.write_text(record.read_text().replace(index.status().versions["chromadb"], "0.6.3"))
    later = open_index(folder, opened)
    assert later.sync("ann", numbered(5)).added == 5
    assert "it was made by Chroma 0.6.3" in later.status().notice


@pytest.mark.parametrize("content", ["", "[]", "{", '{"format": 99, "chromadb": "1.5.9"}'])
def test_a_record_that_does_not_fit_means_a_new_index(
    folder: Path, opened: list[ChromaIndex], content: str
) -> None:
    index = open_index(folder, opened)
    index.sync("ann", numbered(5))
    index.close()
    (folder / "record.json").write_text(content)
    assert open_index(folder, opened).sync("ann", numbered(5)).added == 5


def test_a_strangers_folder_is_left_alone(folder: Path, opened: list[ChromaIndex]) -> None:
    folder.mkdir()
    (folder / "chroma.sqlite3").write_bytes(b"somebody else's")
    before = files_of(folder)
    index = open_index(folder, opened)
    report = index.sync("ann", numbered(5))
    assert "holds what is no index of ours ('chroma.sqlite3'). Name an empty folder." in (
        report.reason
    )
    assert index.search("ann", "word3", 3) == []
    assert files_of(folder) == before


def test_a_file_in_place_of_the_folder_leaves_words(
    folder: Path, opened: list[ChromaIndex]
) -> None:
    folder.write_text("a file")
    assert "cannot be used" in open_index(folder, opened).sync("ann", numbered(5)).reason


def test_a_folder_that_keeps_breaking_is_given_up(
    folder: Path, opened: list[ChromaIndex], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(collection: object) -> list[str]:
        raise RuntimeError

    monkeypatch.setattr("langmem_credit.chroma_rows.rows_of", broken)
    index = open_index(folder, opened)
    index.sync("ann", numbered(5))
    monkeypatch.setattr(chroma_scope, "_CHECK_SECONDS", 0.0)
    for _ in range(4):
        index._rests_until = 0.0
        for scope in index._scopes.values():
            scope.distrust()
        index.sync("ann", numbered(6))
    assert "broke 3 times" in index.status().reason


# Sudden deaths.


def test_a_file_that_was_cut_when_a_process_died_is_found_out_in_a_child(
    folder: Path, opened: list[ChromaIndex]
) -> None:
    index = open_index(folder, opened, dimension=8)
    notes = numbered(WRITTEN + 1)
    index.sync("ann", notes)
    index.close()
    # What a process that dies in the middle of writing leaves: a mark, and no note of the files.
    [data] = folder.rglob("data_level0.bin")
    os.truncate(data, 0)
    shutil.rmtree(folder / "files")
    leave_a_mark(folder, collection_name("ann"))
    later = open_index(folder, opened, dimension=8)
    assert later.sync("ann", notes).added == len(notes)
    assert "damaged when a process died" in later.status().notice


def test_a_sound_folder_is_kept_when_a_process_died(
    folder: Path, opened: list[ChromaIndex]
) -> None:
    index = open_index(folder, opened, dimension=8)
    notes = numbered(WRITTEN + 1)
    index.sync("ann", notes)
    index.close()
    leave_a_mark(folder, collection_name("ann"))
    assert open_index(folder, opened, dimension=8).sync("ann", notes) == SyncReport(
        indexed=len(notes)
    )


def test_a_child_that_is_killed_by_the_files_means_a_new_index(
    folder: Path, tmp_path: Path, opened: list[ChromaIndex], monkeypatch: pytest.MonkeyPatch
) -> None:
    index = open_index(folder, opened)
    index.sync("ann", numbered(5))
    index.close()
    leave_a_mark(folder, collection_name("ann"))
    killed = tmp_path / "python"
    killed.write_text("#!/bin/sh\nkill -SEGV $$\n")
    killed.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(killed))
    assert open_index(folder, opened).sync("ann", numbered(5)).added == 5


def leave_a_mark(folder: Path, name: str) -> None:
    lock = folder / "lock"
    content = lock.read_bytes()
    lock.write_bytes(content[:20] + name.encode().ljust(80))


@pytest.mark.slow
def test_thirty_kills_while_writing_lose_nothing(folder: Path, opened: list[ChromaIndex]) -> None:
    chance = random.Random(7)
    total = 0
    for round_number in range(30):
        process = child(
            f"""
            index = ChromaIndex(folder, BagOfWords())
            notes = numbered(3_000)
            # Opening takes longer than most of the times that are waited.
            index.sync("ann", notes[:{total}])
            print("ready", flush=True)
            for count in range({total + 1}, 3_000, 7):
                index.sync("ann", [n for n in notes[:count] if n.id[-1] != str(count % 10)])
                print(count, flush=True)
            """,
            folder,
            wait=False,
        )
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(chance.uniform(0.02, 0.7))
        process.send_signal(signal.SIGKILL)
        told = process.stdout.read().split()
        process.communicate(timeout=30)
        total = max([total, *map(int, told)])
        index = ChromaIndex(folder, BagOfWords())
        notes = numbered(max(1, total))
        report = index.sync("ann", notes)
        assert (report.done, report.indexed) == (True, len(notes)), round_number
        for one in chance.sample(notes, min(20, len(notes))):
            assert first(index, one.text)[0][:1] == "n"
            assert index.search("ann", one.text, 1)[0].score > 0.9999
        rows = index._place.call(
            collection_name("ann"),
            lambda client: rows_of(
                client.get_collection(collection_name("ann"), embedding_function=None)
            ),
        )
        assert len(rows) == len(notes)
        index.close()
    assert total > 100


# Other processes.


def test_what_another_process_writes_is_found(folder: Path, opened: list[ChromaIndex]) -> None:
    index = open_index(folder, opened)
    index.sync("ann", numbered(5))
    child('ChromaIndex(folder, BagOfWords()).sync("ann", numbered(9))', folder)
    index.sync("ann", numbered(9))
    assert first(index, "word8") == ["n00008"]


def test_two_processes_that_write_by_turns_lose_no_row(
    folder: Path, opened: list[ChromaIndex]
) -> None:
    script = """
        index = ChromaIndex(folder, BagOfWords(8))
        for count in range(1, 60):
            # A writer that is kept out too long says so and is asked again: no row may be lost.
            for _ in range(20):
                index._rests_until = 0.0
                report = index.sync(KEY, numbered(count))
                if report.done:
                    break
            assert report.done, report
        index.close()
        """
    processes = [
        child(f"KEY = {key!r}\n" + textwrap.dedent(script), folder, wait=False)
        for key in ("ann", "bob", "cat")
    ]
    errors = [process.communicate(timeout=120)[1] for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0], errors
    index = open_index(folder, opened, dimension=8)
    for key in ("ann", "bob", "cat"):
        assert index.sync(key, numbered(59)) == SyncReport(indexed=59)
        assert len(index.search(key, "the things", 100)) == 59


def test_a_locked_folder_leaves_words_within_seconds_and_is_used_again(
    folder: Path, opened: list[ChromaIndex]
) -> None:
    index = open_index(folder, opened)
    index.sync("ann", numbered(5))
    holder = child(
        """
        from langmem_credit.folder_lock import hold
        with hold(folder / "lock", "", 5.0):
            print("held", flush=True)
            time.sleep(60)
        """,
        folder,
        wait=False,
    )
    try:
        assert holder.stdout is not None
        holder.stdout.readline()
        began = time.monotonic()
        assert index.search("ann", "word3", 1) == []
        assert time.monotonic() - began < chroma_opening.LOCK_SECONDS + 2
        assert "is in use by another process" in index.status().reason
        began = time.monotonic()
        assert index.search("ann", "word3", 1) == []
        assert time.monotonic() - began < 0.5
    finally:
        holder.kill()
        holder.communicate(timeout=30)
    index._rests_until = 0.0
    assert first(index, "word3") == ["n00003"]


def test_a_process_forked_from_a_user_is_told_at_once_and_harms_nothing(folder: Path) -> None:
    told = child(
        """
        import os, warnings
        warnings.simplefilter("ignore")
        index = ChromaIndex(folder, BagOfWords())
        index.sync("ann", numbered(5))
        pid = os.fork()
        if pid == 0:
            began = time.monotonic()
            found = index.search("ann", "word3", 1)
            told = "forked" in index.status().reason and time.monotonic() - began < 2
            os._exit(0 if told and not found else 3)
        _, status = os.waitpid(pid, 0)
        print(os.waitstatus_to_exitcode(status), index.search("ann", "word3", 1)[0].note_id)
        """,
        folder,
    ).told  # type: ignore[attr-defined]
    assert told.split() == ["0", "n00003"]


def test_a_process_forked_before_the_first_use_may_use_it(folder: Path) -> None:
    told = child(
        """
        import os, warnings
        warnings.simplefilter("ignore")
        index = ChromaIndex(folder, BagOfWords())
        pid = os.fork()
        if pid == 0:
            os._exit(0 if index.sync("ann", numbered(5)).done else 3)
        _, status = os.waitpid(pid, 0)
        print(os.waitstatus_to_exitcode(status), index.sync("ann", numbered(5)))
        """,
        folder,
    ).told  # type: ignore[attr-defined]
    assert told.startswith("0 SyncReport(added=0, removed=0, indexed=5,")


def test_two_indexes_of_one_process_share_a_folder(folder: Path, opened: list[ChromaIndex]) -> None:
    one, two = open_index(folder, opened), open_index(folder, opened)
    one.sync("ann", numbered(5))
    assert two.sync("ann", numbered(5)) == SyncReport(indexed=5)
    one.close()
    assert first(two, "word3") == ["n00003"]


# The lock.


def test_a_lock_whose_holder_failed_leaves_no_mark(tmp_path: Path) -> None:
    with contextlib.suppress(ValueError), hold(tmp_path / "lock", "work", 1.0):
        raise ValueError
    with hold(tmp_path / "lock", "", 1.0) as held:
        assert held.left == ""


def test_a_lock_counts_changes(tmp_path: Path) -> None:
    with hold(tmp_path / "lock", "", 1.0) as held:
        held.advance()
        before = held.generation
    with hold(tmp_path / "lock", "", 1.0) as held:
        assert held.generation == before


def test_a_new_lock_file_never_counts_from_where_another_was(tmp_path: Path) -> None:
    with hold(tmp_path / "lock", "", 1.0) as held:
        before = held.generation
    (tmp_path / "lock").unlink()
    with hold(tmp_path / "lock", "", 1.0) as held:
        assert held.generation != before


@pytest.mark.parametrize("content", [b"", b"x", b"\xff" * 100, b"9" * 500, b"-1" * 50])
def test_a_lock_file_of_any_content_can_be_held(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "lock").write_bytes(content)
    with hold(tmp_path / "lock", "work", 1.0) as held:
        held.advance()


# What an import costs.


def test_the_index_loads_nothing_heavy_before_its_first_use(folder: Path) -> None:
    heavy = {"chromadb", "numpy", "torch", "sentence_transformers", "langchain", "langgraph"}
    told = child(
        f"""
        index = ChromaIndex(folder)
        index.status()
        print(sorted(set(sys.modules) & {heavy!r}))
        """,
        folder,
    ).told  # type: ignore[attr-defined]
    assert told == "[]\n"
