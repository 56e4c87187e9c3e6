"""DBOS: how late workflows wake that sleep until moments at several rates, in one process.

python -m benchmarks peers.dbos_late
"""

from __future__ import annotations

import asyncio
import time

from dbos import DBOS

from benchmarks.harness import QUICK, RATES, SECONDS, database, lateness, spread

MEASURED = RATES[:2] if QUICK else RATES[:3]
"""Starting 2,000 sleepers for each second takes it minutes."""
START_MS = 15
"""About what starting one sleeper takes."""


@DBOS.workflow()
async def sleeper(moment: float) -> float:
    """Sleep until a moment; how late it woke, in ms."""
    await DBOS.sleep_async(max(0.0, moment / 1000 - time.time()))
    return time.time() * 1000 - moment


async def told(rate: int) -> list[float]:
    """All are started before the first moment."""
    first = int(time.time() * 1000) + 1_500 + START_MS * rate * SECONDS
    handles = [await DBOS.start_workflow_async(sleeper, moment) for moment in spread(first, rate, SECONDS)]
    late = [await handle.get_result() for handle in handles]
    return late


def main() -> None:
    with database():
        from benchmarks.processes import environment

        address = environment()["DATABASE_URL"].replace("postgresql://", "postgresql+psycopg://")
        DBOS(config={"name": "bench", "system_database_url": address, "log_level": "ERROR"})
        DBOS.launch()
        try:
            asyncio.run(told(RATES[0]))
            for rate in MEASURED:
                lateness("DBOS sleep", rate, asyncio.run(told(rate)))
        finally:
            DBOS.destroy()


if __name__ == "__main__":
    main()
