"""One run of a thread: what was heard in it, and how its channel keeps that.

Every checkpoint of the run holds the record. So it says once what most utterances have in common,
and it is made of texts without their secrets.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from .ledger import Event
from .notes import Utterance
from .state import RunRecord, issue_run


@dataclass(frozen=True, slots=True)
class HeardRun:
    """One run of a thread, as far as the memory is concerned.

    Attributes:
        id: names the invocation that began the run.
        heard: what the person's side said, oldest first; not all of it was typed.
        as_of: when the digest of this run was frozen, ISO 8601 in UTC.
        since: when the run began; `as_of` moves on when the messages are compacted.
        first: id of the first message that was no summary when the digest was frozen, to notice a
            compaction.
        last: id of the newest human message when the run began.
        recorded: the state holds this run already.
        listened: a node recorded it at its very start, and not the first model call.
        carried: it was heard by a run that broke off. It counts for the tool calls which that run
            left behind, and is not recorded, so that what a model asks for now hears none of it.
        digest: as text, where notes of other scopes may stand in it; else None.
        shown_for: names the scopes and the speaker that `digest` was made for.
        gone: ids of notes of other scopes that were forgotten or corrected in this run.
        whose: names whom the run is for, see `owners.py`; "" where the host names nobody.
    """

    id: str
    heard: tuple[Utterance, ...]
    as_of: str
    since: str
    first: str
    last: str
    recorded: bool
    listened: bool = False
    carried: bool = False
    digest: str | None = None
    shown_for: str = ""
    gone: tuple[str, ...] = ()
    whose: str = ""

    @property
    def speaker(self) -> str | None:
        """Who is asking: the speaker of the last input."""
        inputs = [utterance for utterance in self.heard if utterance.via != "answer"]
        return inputs[-1].speaker if inputs else None

    def record(self) -> RunRecord:
        """The run as its channel takes it; keys that say nothing are left out."""
        heard = () if self.carried else self.heard
        common = heard[0] if heard else Utterance("", "")
        record: RunRecord = {
            "run": self.id,
            "as_of": self.as_of,
            "first": self.first,
            "last": self.last,
            "heard": [_lean(utterance, self.since, common) for utterance in heard],
            "asked": common.asked,
            "before": "" if common.before == common.asked else common.before,
            "whose": self.whose,
        }
        if self.since != self.as_of:
            record["since"] = self.since
        if self.digest is not None:
            record |= {"digest": self.digest, "for": self.shown_for, "gone": list(self.gone)}
        if self.listened:
            record["listened"] = True
        return issue_run({name: value for name, value in record.items() if value})


def stored_run(stored: RunRecord) -> HeardRun:
    """The run that a record keeps."""
    run_id: str = stored.get("run", "")
    as_of: str = stored.get("as_of", "")
    since: str = stored.get("since", as_of)
    asked: str = stored.get("asked", "")
    common = Utterance("", "", at=since, asked=asked, before=stored.get("before", asked))
    heard = tuple(_full(utterance, common) for utterance in stored.get("heard", []))
    first, last = stored.get("first", ""), stored.get("last", "")
    listened = stored.get("listened") is True
    whose: str = stored.get("whose", "")
    run = HeardRun(
        run_id, heard, as_of, since, first, last, recorded=True, listened=listened, whose=whose
    )
    if not stored.get("for"):
        return run
    digest, gone = stored.get("digest", ""), tuple(stored.get("gone", ()))
    return replace(run, digest=digest, shown_for=stored["for"], gone=gone)


def with_gone(run: HeardRun, note_ids: Iterable[str]) -> HeardRun:
    """The run in which notes of another scope were forgotten or corrected.

    Where the store cannot be read in the next run, this run's digest stands, and must not bring
    them back.
    """
    return replace(run, gone=(*run.gone, *note_ids), recorded=False)


def ended_by(event: Event) -> list[str]:
    """Ids of the notes that the event ends: the one that it withdraws, or corrects."""
    ending = "note" if event.get("type") == "withdrawn" else "replaces"
    return [event[ending]] if event.get(ending) else []


def not_before(run: HeardRun, moment: str) -> HeardRun:
    """The run, begun no earlier than the newest event that it could see."""
    if moment <= run.as_of:
        return run
    if run.since != run.as_of:
        return replace(run, as_of=moment)
    heard = tuple(replace(one, at=moment) if one.at == run.since else one for one in run.heard)
    return replace(run, as_of=moment, since=moment, heard=heard)


def _lean(utterance: Utterance, since: str, common: Utterance) -> dict[str, Any]:
    said = {"id": utterance.id, "text": utterance.text}
    if utterance.at != since:
        said["at"] = utterance.at
    if utterance.via != "input":
        said["via"] = utterance.via
    if utterance.speaker:
        said["speaker"] = utterance.speaker
    if utterance.asked != common.asked:
        said["asked"] = utterance.asked
    if utterance.before != common.before:
        said["before"] = utterance.before
    return said


def _full(said: Mapping[str, Any], common: Utterance) -> Utterance:
    return Utterance(
        said.get("id", ""),
        said.get("text", ""),
        said.get("via", "input"),
        said.get("speaker"),
        said.get("at", common.at),
        said.get("asked", common.asked),
        said.get("before", common.before),
    )
