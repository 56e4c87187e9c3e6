"""How fast manifests are read, and what the two schema checks of a call cost.

    python -m benchmarks.manifests

Two hundred copies of the shop's order, each with its files, are compiled from an empty process; then a row and an
input of the order pass through their checkers. No database is needed.
"""

from __future__ import annotations

import tempfile
import timeit
from decimal import Decimal
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

from tests.manifests.cases import cases
from toa.manifests.checking import Checked, check
from toa.manifests.schemas import Checker, compile_schema

MANIFESTS = 200
COMPILE_LIMIT_S = 2.0
CHECKS_LIMIT_US = 10.0
ROUNDS = 2_000
REPEATS = 40


def main() -> int:
    order = next(case for case in cases("sound") if case.name.endswith("shop_order"))
    manifest = next(text for path, text in order.files.items() if path.endswith(".yaml"))
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for number in range(MANIFESTS):
            for path, text in order.files.items():
                target = root / "shop" / f"orders{number}" / Path(path).relative_to("store/things")
                target.parent.mkdir(parents=True, exist_ok=True)
                # Each is another text, so that no schema compiled for one serves the next.
                changed = text.replace("maxLength: 64", f"maxLength: {64 + number}") if text == manifest else text
                target.write_text(changed, encoding="utf-8")
        started, worked = perf_counter(), process_time()
        checked = check([root])
        # Judged by the processor's time: the wall's counts what else the machine does.
        seconds, elapsed = process_time() - worked, perf_counter() - started
    assert not checked.problems, checked.problems[0]
    print(f"{len(checked.manifests)} manifests compiled in {seconds:.2f} s; at most {COMPILE_LIMIT_S:.0f} s")
    print(f"on the wall: {elapsed:.2f} s")
    microseconds = _checks(checked)
    return 0 if seconds <= COMPILE_LIMIT_S and microseconds <= CHECKS_LIMIT_US else 1


def _checks(checked: Checked) -> float:
    spec = checked.manifests[0].spec
    assert spec is not None
    assert spec.entity is not None
    given = {"reference": "R-1", "customer": "ada", "product": "tea", "quantity": 3, "total": "12.50"}
    row = {**given, "total": Decimal("12.50"), "status": "pending", "pay_by": 1_767_225_600_000, "alarm": "0" * 32}
    entity, taken = compile_schema(spec.entity.schema), compile_schema(spec.operations["create"].input)
    told = {
        "check of an input from JSON": _each(taken.check, given),
        "check of a row": _each(entity.check, row),
        "compiled validator alone, input": _valid(taken, given),
        "compiled validator alone, row": _valid(entity, row),
    }
    for name, cost in told.items():
        print(f"{name}: {cost:.1f} µs")
    together = told["check of an input from JSON"] + told["check of a row"]
    print(f"both checks of a call: {together:.1f} µs; at most {CHECKS_LIMIT_US:.0f} µs")
    return together


def _each(function: Any, value: Any) -> float:
    """The best of many short runs, in microseconds for one call: what other processes do is no part of it."""
    return min(timeit.repeat(lambda: function(value), number=ROUNDS, repeat=REPEATS)) / ROUNDS * 1e6


def _valid(checker: Checker, value: Any) -> float:
    return _each(checker.is_valid, checker.normalise(value))


if __name__ == "__main__":
    raise SystemExit(main())
