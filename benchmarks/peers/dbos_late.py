"""DBOS: how late workflows wake that sleep until moments at several rates, in one process.

python -m benchmarks peers.dbos_late
"""

from __future__ import annotations

import asyncio
import time

from dbos import DBOS

from benchmarks.harness import QUICK, RATES, SECONDS, database, in_time, lateness, spread
from benchmarks.peers.dbos_app import launched, sleeper

MEASURED = RATES[:2] if QUICK else RATES[:3]
"""Starting 2,000 sleepers for each second takes it minutes."""
START_MS = 15
"""About what starting one sleeper takes."""


async def told(rate: int) -> list[float]:
    """All are started before the first moment."""
    first = int(time.time() * 1000) + 1_500 + START_MS * rate * SECONDS
    handles = [await DBOS.start_workflow_async(sleeper, moment) for moment in spread(first, rate, SECONDS)]
    in_time(first)
    return [await handle.get_result() for handle in handles]


def main() -> None:
    with database(), launched():
        asyncio.run(told(RATES[0]))
        for rate in MEASURED:
            lateness("DBOS sleep", rate, asyncio.run(told(rate)))


if __name__ == "__main__":
    main()
