"""What only effects declare: how long one attempt may take, how many there are, and for which exceptions."""

from __future__ import annotations

import re
from dataclasses import replace

from toa.core.duration import SECOND_MS, format_duration, parse_duration
from toa.core.specs import OperationSpec, OperationType
from toa.exceptions import InvalidDuration
from toa.manifests.fields import Fields
from toa.manifests.names import a_type
from toa.manifests.problems import OPERATION, WRONG_VALUE

MAX_MS = 86_400_000
"""The longest time-out and lease: a day. What takes longer is a workflow."""

_KEYS = ("timeout", "attempts", "retry", "lease")
_EXCEPTION = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*")


def read_effect(fields: Fields, spec: OperationSpec) -> OperationSpec:
    """The operation with what its declaration says about attempts; another type may say nothing about them."""
    if spec.type is not OperationType.EFFECT:
        for key in _KEYS:
            place = fields.get(key)
            if place is not None:
                place.error(f"{key} goes with an effect, not with {a_type(spec.type)}", id=OPERATION, key=True)
        return spec
    for item in fields.items("retry"):
        if not _EXCEPTION.fullmatch(item.value):
            item.error(f"'{item.value}' is no dotted name of an exception", id=OPERATION)
    return replace(
        spec,
        timeout_ms=_duration(fields, "timeout", spec.timeout_ms, least=1),
        lease_ms=_duration(fields, "lease", spec.lease_ms, least=SECOND_MS),
        attempts=fields.integer("attempts", spec.attempts),
        retry=fields.names("retry"),
    )


def _duration(fields: Fields, key: str, default: int, least: int) -> int:
    place = fields.get(key)
    if place is None:
        return default
    try:
        found = parse_duration(place.value)
    except InvalidDuration as error:
        place.error(error.message, hint=error.hint, id=WRONG_VALUE)
        return default
    if not least <= found <= MAX_MS:
        place.error(
            f"must be from {format_duration(least)} to {format_duration(MAX_MS)}, not {format_duration(found)}",
            hint="a bare number is milliseconds" if isinstance(place.value, int) else "",
            id=WRONG_VALUE,
        )
    return found
