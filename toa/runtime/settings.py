"""What a project may set under `TOA`, with defaults."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

DEFAULTS: Mapping[str, Any] = {
    "DATABASE": "default",
    "CADENCE": {},
    "CONFIGURATION": {},
    "SHARED_CLOCK": False,
    "HISTORY_DAYS": 30,
    "RELEASE": 0,
    "REST": {},
    "SETWISE": True,
}
"""DATABASE: alias of the database that holds toa's tables and every entity.
CADENCE: endpoint -> cadence of this environment, in place of the manifest's.
CONFIGURATION: component -> values for its `configuration`.
SHARED_CLOCK: honour the offset stored in the database (tests with several processes).
HISTORY_DAYS: how long settled calls and revisions are kept; 0: for ever.
SETWISE: fire what is due set by set; off, call by call, for breakpoints in operations.
REST: of `toa.rest`: OWNER, the attribute of a user that is the caller's id ("pk"); MAX_BODY, bytes of a request's body.
RELEASE: a number that rises with each release; `toa sync` leaves rows of a newer one alone."""


def get(name: str) -> Any:
    """The project's value of a setting, or its default; refuses a name that toa does not know."""
    given: Mapping[str, Any] = getattr(settings, "TOA", {})
    unknown = sorted(set(given) - set(DEFAULTS))
    if unknown:
        raise ImproperlyConfigured(f"TOA has unknown keys {', '.join(unknown)}; known are {', '.join(DEFAULTS)}")
    return given.get(name, DEFAULTS[name])


def alias() -> str:
    """The database alias that toa works on."""
    return str(get("DATABASE"))
