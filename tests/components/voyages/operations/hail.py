"""An effect that the tests watch: it notes each of its calls in `CALLS`, and fails as it is told."""

from toa import Error, Transient

CALLS = []
FAILURES = []
"""What the next calls raise, one after another."""


def effect(input, context):
    CALLS.append((input.get("name"), context.key))
    if FAILURES:
        raise FAILURES.pop(0)
    if input.get("fail") == "error":
        return Error("SILENT", name=input.get("name"))
    if input.get("fail") == "transient":
        raise Transient("nobody answers")
    if input.get("fail"):
        raise ValueError(input.fail)
    return {"hailed": input.get("name"), "calls": len(CALLS)}
