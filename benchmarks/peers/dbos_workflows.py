"""DBOS in one process: workflows of one empty step, and how late those wake that sleep: together, and at several rates.

python -m benchmarks peers.dbos_workflows
"""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Sequence

from dbos import DBOS

from benchmarks.databases import database
from benchmarks.harness import (
    QUICK,
    RATES,
    SLEEPERS,
    Figure,
    in_time,
    lateness,
    number_of,
    patiently,
    percentile,
    repeated,
    say,
    spread,
)
from benchmarks.peers.dbos_app import launched, sleeper

WORKFLOWS = 200 if QUICK else 1_000
ROUNDS = 3
WARM = 20
MEASURED = RATES[:2] if QUICK else RATES[:3]
"""Starting 2,000 sleepers for each second takes it minutes."""
START_MS = 15
"""More than what starting one sleeper takes."""


@DBOS.step()
def step() -> int:
    """Does nothing."""
    return 1


@DBOS.workflow()
def workflow() -> int:
    """One step."""
    return step()


def rate(number: int) -> float:
    """Workflows a second, started and ended."""
    began = time.perf_counter()
    for handle in [DBOS.start_workflow(workflow) for _ in range(number)]:
        handle.get_result()
    return number / (time.perf_counter() - began)


def late(moments: Sequence[int]) -> list[float]:
    """How late sleepers wake, in ms. All are started before the first moment; coroutines, not threads: of those it
    runs fewer at once than there are sleepers."""

    async def told() -> list[float]:
        handles = [await DBOS.start_workflow_async(sleeper, moment) for moment in moments]
        started = time.time() * 1000
        results = [await handle.get_result() for handle in handles]
        in_time(moments[0], started)
        return results

    return asyncio.run(told())


def ahead(number: int, times: int) -> int:
    """A moment by which so many are asleep, where starting one takes so many times as long."""
    return int(time.time() * 1000) + times * (500 + START_MS * number)


def main() -> None:
    with database(), launched():
        rate(WARM)
        value = statistics.median(repeated(lambda: rate(WORKFLOWS), ROUNDS))
        say(Figure(name="DBOS: workflows of one step", value=value, unit="/s", note=f"{WORKFLOWS:,} in a round"))
        patiently(lambda times: late([ahead(WARM, times)] * WARM))
        found = patiently(lambda times: late([ahead(SLEEPERS, times)] * SLEEPERS))
        for share in (0.5, 0.99):
            label = f"DBOS: lateness p{share * 100:.0f}, {SLEEPERS} sleepers due together"
            say(Figure(name=label, value=percentile(found, share), unit="ms"))
        for rate_due in MEASURED:
            found = patiently(lambda times: late(spread(ahead(number_of(rate_due), times), rate_due)))  # noqa: B023
            lateness("DBOS sleep", rate_due, found)


if __name__ == "__main__":
    main()
