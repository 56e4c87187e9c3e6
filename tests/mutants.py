"""Five named bugs, each planted in a copy of the source: the tests of deadlines must find every one.

`make mutants` runs it; arguments name those to plant, all without. It exits with 1 where the tests pass over a bug.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TESTS = "tests/cadence/test_deadlines_property.py"
RUNS = "40"
"""How many random runs a bug has to survive, to be missed."""
WITHIN_S = 600


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """One bug: what stands in a module, and what a mistake would have put there."""

    name: str
    module: str
    sound: str
    broken: str


MUTANTS = (
    Mutant(
        name="wrong tie order",
        module="toa/core/deadlines.py",
        sound="return min(pending, default=None)",
        broken="return min(pending, key=lambda one: (one.moment, -ord(one.property[0])), default=None)",
    ),
    Mutant(
        name="forgotten requeue",
        module="toa/cadence/deadlines/draining.py",
        sound='component.table.update(identity, {"CLOCK": None, "HELD": now})',
        broken='component.table.update(identity, {"CLOCK": None, "HELD": None})',
    ),
    Mutant(
        name="lost park",
        module="toa/cadence/deadlines/admitting.py",
        sound="kind.postpone(live, None, live.attempt)",
        broken='settle(kind, live, Outcome.REFUSED, "PARKED", started, clock.clock().now())',
    ),
    Mutant(
        name="double reach",
        module="toa/cadence/deadlines/instances.py",
        sound='    write_history([line(component, state["id"], call, reached, Outcome.MADE, "", now)])',
        broken='    decide(operation, prepare(operation, None, {"id": state["id"]}), call, lock=Lock.SKIP)\n'
        '    write_history([line(component, state["id"], call, reached, Outcome.MADE, "", now)])',
    ),
    Mutant(
        name="drift",
        module="toa/cadence/deadlines/identity.py",
        sound="base=reached.moment",
        broken='base=__import__("toa.runtime.clock", fromlist=["clock"]).clock().now()',
    ),
)


def main() -> int:
    """Plant each bug and run the tests; returns the exit status."""
    missed = []
    with tempfile.TemporaryDirectory(prefix="toa-mutants-") as folder:
        copy = Path(folder, "copy")
        _copy_to(copy)
        for mutant in [one for one in MUTANTS if one.name in (sys.argv[1:] or [one.name])]:
            module = copy / mutant.module
            text = module.read_text()
            if text.count(mutant.sound) != 1:
                print(f"{mutant.name}: {mutant.module} does not hold once what the bug would change", flush=True)
                return 1
            module.write_text(text.replace(mutant.sound, mutant.broken))
            begun = time.monotonic()
            found, why = _finds(copy)
            module.write_text(text)
            seconds = time.monotonic() - begun
            print(f"{'found ' if found else 'MISSED'}  {mutant.name:18} {seconds:5.1f} s  {why}", flush=True)
            if not found:
                missed.append(mutant.name)
    return 1 if missed else 0


def _copy_to(copy: Path) -> None:
    """The source of the checkout; its servers and their data are shared, each run has a database of its own."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, copy / name)
    (copy / ".data").symlink_to(ROOT / ".data")


def _finds(copy: Path) -> tuple[bool, str]:
    """Whether the tests fail over what the copy holds, and the error they tell of."""
    environment = {**os.environ, "TOA_PROPERTY_RUNS": RUNS, "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-x", "-q", "--no-header", "-p", "no:cacheprovider", TESTS]
    done = subprocess.run(
        command, cwd=copy, env=environment, capture_output=True, text=True, timeout=WITHIN_S, check=False
    )
    errors = [line.removeprefix("E").strip() for line in done.stdout.splitlines() if line.startswith("E  ")]
    # A failing assertion is status 1. Anything else, such as an import that fails, has found nothing.
    return done.returncode == 1 and bool(errors), errors[0] if errors else done.stdout[-300:]


if __name__ == "__main__":
    sys.exit(main())
