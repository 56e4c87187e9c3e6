"""Runs of workflows are started, not called: the answer is the id of the run, before anything of it was done."""

from __future__ import annotations

from typing import Any

from toa.core.identity import LONGEST_KEY
from toa.core.specs import Schema
from toa.exceptions import InvalidInput, NotAllowedHere, UnknownEndpoint
from toa.manifests.schemas import compile_schema
from toa.runtime.once import LONGEST_KEY as LONGEST_HEADER
from toa.runtime.starting import key_of, start

STARTED: Schema = {"type": "object", "required": ["run"], "properties": {"run": {"type": "string"}}}
"""The answer to a start."""

ANY: Schema = {
    "type": "object",
    "required": ["endpoint"],
    "properties": {
        "endpoint": {"type": "string", "minLength": 1, "maxLength": 191},
        "input": {},
        "key": {"type": "string", "minLength": 1, "maxLength": LONGEST_KEY},
    },
    "additionalProperties": False,
}
"""What an operator starts a run by."""


def start_any(given: Any) -> dict[str, str]:
    """Start a run of any workflow, as code does, by a body that fits `ANY`. Raises InvalidInput."""
    asked = compile_schema(ANY).check(given)
    try:
        return {"run": start(asked["endpoint"], asked.get("input"), asked.get("key"))}
    except (UnknownEndpoint, NotAllowedHere) as error:
        raise InvalidInput(error.message, problems=[("/endpoint", error.message)]) from None


def start_for(caller: str, endpoint: str, input: Any, key: str | None) -> dict[str, str]:
    """Start a run for a caller, whose own `key` is."""
    if key is not None:
        if not 0 < len(key) <= LONGEST_HEADER:
            raise InvalidInput(f"an Idempotency-Key is text of 1 to {LONGEST_HEADER} characters")
        key = key_of(caller, key)
    return {"run": start(endpoint, input, key)}
