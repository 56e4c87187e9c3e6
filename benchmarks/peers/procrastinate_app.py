"""procrastinate on the benchmark's database: its app, and a worker in this process."""

from __future__ import annotations

import asyncio
from typing import Any

import procrastinate

SIDE_BY_SIDE = 10
"""Jobs that one worker runs at once."""


def app_on(address: str) -> procrastinate.App:
    """An app that defers over one connection."""
    return procrastinate.App(connector=procrastinate.SyncPsycopgConnector(conninfo=address))


def work(app: procrastinate.App, address: str, **options: Any) -> None:
    """Be a worker, with these options of it beside what is common."""

    async def run() -> None:
        worker = app.with_connector(procrastinate.PsycopgConnector(conninfo=address))
        async with worker.open_async():
            await worker.run_worker_async(concurrency=SIDE_BY_SIDE, install_signal_handlers=False, **options)

    asyncio.run(run())
