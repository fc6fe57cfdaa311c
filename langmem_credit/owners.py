"""Whose sessions: the scope whose register a run's thread is entered in, and a name for its owner.

Sessions are one person's. So their register lies in the scope called "user", else in the narrowest
one that several people do not share. A run also leaves a name for whom it was for in its record, so
that a thread whose register nobody keeps, or whose id is used anew, is shown to its owner only.
"""

from __future__ import annotations

import hashlib
import json

from .errors import IdentityError
from .scopes import USER, USER_ID, RunValues, Scope
from .settings import Settings

# Names nobody: the run did not say for certain whose it was.
NOBODY = "?"


def register_scope(settings: Settings) -> Scope | None:
    """The scope whose register the memory's sessions are entered in; None for none."""
    own = [scope for scope in settings.scopes if not scope.people]
    return next((scope for scope in own if scope.name == USER), own[0] if own else None)


def owner_of(settings: Settings, values: RunValues) -> str:
    """A name for whom the values are for: "" where the host names nobody, never a value itself.

    Raises:
        IdentityError: they do not say it for certain.
    """
    scope = register_scope(settings)
    if scope is None and not values.has(USER_ID):
        return ""
    names, of = (scope.placeholders, scope.name) if scope else ((USER_ID,), USER)
    told = json.dumps([(name, values.text(name, of)) for name in sorted(names)])
    return hashlib.sha256(told.encode()).hexdigest()[:16] if names else ""


def owner_in_run(settings: Settings, values: RunValues) -> str:
    """As `owner_of`; a run that does not say it for certain is nobody's."""
    try:
        return owner_of(settings, values)
    except IdentityError:
        return NOBODY
