"""DBOS on the benchmark's database, in this process, and the workflow that sleeps."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from dbos import DBOS


@DBOS.workflow()
async def sleeper(moment: float) -> float:
    """Sleep until a moment, epoch ms; how late it woke, in ms."""
    await DBOS.sleep_async(max(0.0, moment / 1000 - time.time()))
    return time.time() * 1000 - moment


@contextmanager
def launched() -> Iterator[None]:
    """DBOS runs for as long as the body does."""
    from benchmarks.processes import environment

    address = environment()["DATABASE_URL"].replace("postgresql://", "postgresql+psycopg://")
    DBOS(config={"name": "bench", "system_database_url": address, "log_level": "ERROR"})
    DBOS.launch()
    try:
        yield
    finally:
        DBOS.destroy()
