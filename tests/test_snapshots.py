"""Snapshots are compared byte for byte and written only when asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.snapshots_support import Snapshots


def test_the_same_text_passes(tmp_path: Path) -> None:
    (tmp_path / "digest.md").write_bytes("From you\n- naïve 👩‍🚀\n".encode())
    Snapshots(tmp_path).check("digest", "From you\n- naïve 👩‍🚀")


def test_another_text_fails_and_shows_the_line(tmp_path: Path) -> None:
    (tmp_path / "digest.md").write_text("old line\n")
    with pytest.raises(AssertionError, match=r"(?s)--update-snapshots.*-old line\n\+new line"):
        Snapshots(tmp_path).check("digest", "new line")


def test_a_missing_file_fails_and_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=r"digest\.md does not exist"):
        Snapshots(tmp_path).check("digest", "text")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", ["a\n", "a\r", "a\u2028"])
def test_one_byte_more_at_the_end_fails(tmp_path: Path, text: str) -> None:
    (tmp_path / "digest.md").write_bytes(b"a\n")
    with pytest.raises(AssertionError, match="says something else"):
        Snapshots(tmp_path).check("digest", text)


def test_updating_writes_the_text_and_one_newline(tmp_path: Path) -> None:
    Snapshots(tmp_path / "new", update=True).check("digest", "a\r\nb")
    assert (tmp_path / "new" / "digest.md").read_bytes() == b"a\r\nb\n"


@pytest.mark.parametrize("name", ["", "../digest", "a/b", "Digest", "a.md", "-a"])
def test_a_name_that_is_no_plain_word_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="is not usable"):
        Snapshots(tmp_path, update=True).check(name, "text")


def test_the_fixture_compares_unless_told_otherwise(
    request: pytest.FixtureRequest, snapshot: Snapshots
) -> None:
    asked = request.config.getoption("--update-snapshots")
    assert snapshot == Snapshots(Path(__file__).parent / "snapshots", update=asked)
