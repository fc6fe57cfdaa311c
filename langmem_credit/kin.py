"""Which notes are kin: they say the same, or rest on the same words or the same stretch of them.

Everything here takes time in proportion to the notes, whatever they are: what has ended is not
looked at again.
"""

from __future__ import annotations

from collections.abc import Mapping

from .drafts import LIVING, Draft, heard_of, span_of
from .ledger import Event


class Kin:
    """Finds the notes that a note has to do with.

    Args:
        drafts: all notes by id, as they are born.
    """

    def __init__(self, drafts: Mapping[str, Draft]) -> None:
        self._drafts = drafts
        # By present text, about and speaker; what has ended leaves when it is next looked at.
        self._same: dict[str, list[Draft]] = {}
        # Of each claim the draft that was stopped last, and of each claim and utterance.
        self._stops: dict[str | tuple[str, str], Draft] = {}
        self._stale = False
        # The newest that was credited, by the person's words.
        self._resting: dict[str, Draft] = {}
        # What was credited, by utterance: the first note of it, and all as soon as it has two.
        self._first: dict[str, Draft] = {}
        self._credited = _ByUtterance()
        self._waiting = _ByUtterance()

    def add(self, draft: Draft) -> None:
        """A note was born."""
        key = draft.keys[-1]
        same = self._same.get(key)
        if same is None:
            self._same[key] = [draft]
        else:
            same.append(draft)
        if draft.ended or draft.disputed or draft.superseded_by:
            if draft.stopped:
                self.stopped(draft)
        elif draft.credited:
            self._resting[draft.claims[-1]] = draft
            if draft.utterance and self._first.setdefault(draft.utterance, draft) is not draft:
                spoken = self._credited_with(draft)
                spoken[:] = [*(one for one in spoken if not _overlap(one, draft)), draft]
        elif draft.utterance and draft.waits:
            self._waiting.of(draft).append(draft)

    def siblings(self, draft: Draft, *, own: bool = False) -> list[Draft]:
        """The draft, and those that live and say the same; `own`: of its family only.

        What the agent or a summary decides for itself touches no other note.
        """
        key, family = draft.keys[-1], draft.family
        others = [
            one
            for one in self._same[key]
            if one is not draft and one.keys[-1] == key and one.standing in LIVING
        ]
        self._same[key] = [*others, draft] if draft.standing in LIVING else others
        return [draft, *(one for one in others if not own or one.family == family)]

    def late_for(self, draft: Draft) -> Draft | None:
        """What ended, corrected or disputed these words after they were heard, the last of it."""
        if draft.credited:
            if self._stale:
                self._look_again()
            if not self._stops:
                return None
            found = self._stops_after(draft)
        elif draft.utterance in self._first and draft.waits:
            heard_at = heard_of(draft.event)[0]
            found = [
                one
                for one in self._credited_with(draft)
                if _overlap(one, draft)
                and one.stopped
                and (not heard_at or heard_at < one.stopped_at)
            ]
        else:
            return None
        return max(found, key=lambda one: one.stopped_at, default=None)

    def standing_for(self, draft: Draft) -> Draft | None:
        """The active note that rests on the same words under another wording."""
        if draft.credited:
            one = self._resting.get(draft.claims[-1])
            if one is None or one.keys[-1] == draft.keys[-1] or one.standing != "active":
                return None
            return one
        if draft.utterance in self._first and draft.waits:
            for one in self._credited_with(draft):
                if one.standing == "active" and _overlap(one, draft):
                    return one
        return None

    def waiting_for(self, draft: Draft) -> list[Draft]:
        """Notes that wait although they come from the stretch that this one is credited on."""
        if draft.utterance not in self._waiting:
            return []
        waiting = self._waiting.of(draft)
        found = [one for one in waiting if _overlap(one, draft)]
        waiting[:] = [one for one in waiting if not _overlap(one, draft)]
        return [one for one in found if one.standing == "unconfirmed"]

    def stopped(self, draft: Draft) -> None:
        """Something stands against what the draft says."""
        for claim in draft.claims:
            for name in (claim, (claim, draft.utterance)):
                last = self._stops.get(name)
                if last is None or last.stopped_at <= draft.stopped_at:
                    self._stops[name] = draft

    def revived(self, draft: Draft) -> None:
        """What stood against it was taken back."""
        same = self._same[draft.keys[-1]]
        if not any(one is draft for one in same):
            same.append(draft)
        self._stale = True

    def reworded(self, draft: Draft, key: str, claims: tuple[str, ...]) -> None:
        """A person gave the note another text."""
        if key not in draft.keys:
            self._same.setdefault(key, []).append(draft)
        draft.keys = (*(old for old in draft.keys if old != key), key)
        draft.claims = (*(one for one in claims if one not in draft.claims), *draft.claims)

    def _look_again(self) -> None:
        self._stale = False
        self._stops.clear()
        for draft in self._drafts.values():
            if draft.stopped:
                self.stopped(draft)

    def _stops_after(self, draft: Draft) -> list[Draft]:
        stops = [self._stops[claim] for claim in draft.claims if claim in self._stops]
        if not stops:
            return []
        heard_at = heard_of(draft.event)[0]
        if heard_at:
            return [one for one in stops if heard_at < one.stopped_at]
        if not draft.utterance:
            return []
        names = [(claim, draft.utterance) for claim in draft.claims]
        return [self._stops[name] for name in names if name in self._stops]

    def _credited_with(self, draft: Draft) -> list[Draft]:
        """What was credited on the draft's utterance."""
        if draft.utterance not in self._credited:
            first = self._first[draft.utterance]
            self._credited.of(first).append(first)
        return self._credited.of(draft)


class _ByUtterance:
    """Notes by the utterance that they come from; one that was heard later is another one.

    A caller may use a message's id again.
    """

    def __init__(self) -> None:
        self._lists: dict[str, dict[str, list[Draft]]] = {}

    def __contains__(self, utterance: str) -> bool:
        return utterance in self._lists

    def of(self, draft: Draft) -> list[Draft]:
        """The list that the draft belongs to."""
        by_moment = self._lists.setdefault(draft.utterance, {})
        return by_moment.setdefault(heard_of(draft.event)[0], [])


def _overlap(one: Draft, other: Draft) -> bool:
    """True unless the two are known to come from different stretches of an utterance."""
    span, other_span = _stretch(one.event), _stretch(other.event)
    if span is None or other_span is None:
        return True
    return span[0] < other_span[1] and other_span[0] < span[1]


def _stretch(event: Event) -> tuple[int, int] | None:
    span = event.get("span")
    return span_of(event, "") if isinstance(span, (list, tuple)) else None
