"""What operators do over HTTP. Each action is one of `toa.cadence`, under its own permission."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from toa.cadence.actions import delays, failures, operating, replaying
from toa.core.specs import Schema
from toa.exceptions import InvalidDuration, InvalidInput, InvalidMoment, NotFound
from toa.manifests.schemas import compile_schema
from toa.models import Pulse, Schedule
from toa.rest.clock_lists import identity_of
from toa.runtime import settings
from toa.workflow import actions as runs

Act = Callable[[str, str, Any], str]
"""Takes the id of the path, who asks, and the body; answers what it did, or why it did not."""

MOMENT: Schema = {
    "type": "object",
    "properties": {
        "interval": {"type": ["string", "integer"], "description": "From now: ms, or text as in 2h."},
        "at": {"type": "integer", "format": "epoch-millis"},
    },
    "minProperties": 1,
    "maxProperties": 1,
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """One action on one row."""

    listing: str
    name: str
    permission: str
    act: Act
    input: Schema | None = None


def _move(id: str, by: str, given: Any) -> str:
    checked = compile_schema(MOMENT).check(given)
    try:
        return delays.move(identity_of(id), by, interval=checked.get("interval"), at=checked.get("at"))
    except (InvalidDuration, InvalidMoment) as error:
        (name,) = checked
        raise InvalidInput(str(error), problems=[(f"/{name}", error.message)]) from None


def _on(model: type[Pulse] | type[Schedule], act: Callable[[Any, str], str]) -> Act:
    def run(id: str, by: str, given: Any) -> str:
        row = model._default_manager.using(settings.alias()).filter(pk=identity_of(id)).first()
        if row is None:
            raise NotFound(id)
        return act(row, by)

    return run


def _by_id(act: Callable[..., Any]) -> Act:
    def run(id: str, by: str, given: Any) -> str:
        return str(act(identity_of(id), by))

    return run


def _replay(id: str, by: str, given: Any) -> str:
    return f"sent again as {replaying.replay(identity_of(id), by).hex}"


_RESTED: Mapping[str, tuple[type[Pulse] | type[Schedule], str, str]] = {
    "pulses": (Pulse, operating.PAUSE_PULSE, operating.FIRE_PULSE),
    "schedules": (Schedule, operating.PAUSE_SCHEDULE, operating.FIRE_SCHEDULE),
}

ACTIONS = (
    Action(listing="delays", name="cancel", permission=delays.CANCEL, act=_by_id(delays.cancel)),
    Action(listing="delays", name="move", permission=delays.MOVE, act=_move, input=MOMENT),
    Action(listing="delays", name="fire", permission=delays.MOVE, act=_by_id(delays.fire)),
    *(
        Action(listing=listing, name=name, permission=permission, act=_on(model, act))
        for listing, (model, pausing, firing) in _RESTED.items()
        for name, permission, act in (
            ("pause", pausing, operating.pause),
            ("resume", pausing, operating.resume),
            ("fire", firing, operating.fire),
        )
    ),
    Action(listing="failures", name="retry", permission=failures.RETRY, act=_by_id(failures.retry)),
    Action(listing="failures", name="discard", permission=failures.DISCARD, act=_by_id(failures.discard)),
    Action(listing="events", name="replay", permission=replaying.REPLAY, act=_replay),
    Action(listing="runs", name="cancel", permission=runs.CANCEL, act=_by_id(runs.cancel)),
    Action(listing="runs", name="retry", permission=failures.RETRY, act=_by_id(runs.retry)),
    Action(listing="runs", name="discard", permission=failures.DISCARD, act=_by_id(runs.discard)),
)
