"""DBOS: workflows of one empty step, and sleepers due together, in one process.

python -m benchmarks peers.dbos_workflows
"""

from __future__ import annotations

import asyncio
import time

from dbos import DBOS

from benchmarks.harness import QUICK, SLEEPERS, Figure, database, percentile, say
from benchmarks.peers.dbos_app import launched, sleeper

WORKFLOWS = 200 if QUICK else 1_000
AHEAD_MS = 5_000


@DBOS.step()
def step() -> int:
    """Does nothing."""
    return 1


@DBOS.workflow()
def workflow() -> int:
    """One step."""
    return step()


async def sleepers() -> list[float]:
    """Coroutines, not threads: of those it runs fewer at once than there are sleepers."""
    moment = time.time() * 1000 + AHEAD_MS
    handles = [await DBOS.start_workflow_async(sleeper, moment) for _ in range(SLEEPERS)]
    return [await handle.get_result() for handle in handles]


def main() -> None:
    with database(), launched():
        began = time.perf_counter()
        for handle in [DBOS.start_workflow(workflow) for _ in range(WORKFLOWS)]:
            handle.get_result()
        rate = WORKFLOWS / (time.perf_counter() - began)
        asyncio.run(sleepers())
        late = asyncio.run(sleepers())
        say(Figure(name="DBOS: workflows of one step", value=rate, unit="/s"))
        for share in (0.5, 0.99):
            label = f"DBOS: lateness p{share * 100:.0f}, {SLEEPERS} sleepers due together"
            say(Figure(name=label, value=percentile(late, share), unit="ms"))


if __name__ == "__main__":
    main()
