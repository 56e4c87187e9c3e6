"""Processes beside a benchmark, on its database and its broker: beat and workers, `toa run`, a worker of a peer."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

from config import servers
from shop.children import Child, beat, manage, worker

WITHIN_S = 180.0


def environment(settings_module: str = "benchmarks.settings") -> dict[str, str]:
    """For processes on the database of the benchmark that runs, and on names of their own in the broker."""
    from django.db import connection

    database = urlsplit(servers.database_url())._replace(path=f"/{connection.settings_dict['NAME']}").geturl()
    return {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": settings_module,
        "DATABASE_URL": database,
        "REDIS_URL": servers.broker_url(),
        "BROKER_PREFIX": broker_prefix(os.getpid()),
    }


@contextmanager
def running(*commands: Sequence[str], settings_module: str = "benchmarks.settings") -> Iterator[list[Child]]:
    """Have these commands run for as long as the body does. Then they are killed: ending in order takes seconds, and
    nothing of theirs is kept."""
    children: list[Child] = []
    with tempfile.TemporaryDirectory() as folder:
        try:
            for number, command in enumerate(commands):
                log = Path(folder) / f"{number}.log"
                children.append(Child(str(number), command, environment=environment(settings_module), log=log))
            yield children
        finally:
            for child in children:
                child.kill()
            forget_messages(broker_prefix(os.getpid()))


def beat_and_workers() -> list[list[str]]:
    """Beat and two worker processes."""
    return [beat(), worker("bench", "toa,toa.calls,celery", 2)]


def one_worker(name: str) -> list[str]:
    """A worker with one process that fires."""
    return worker(f"bench-{name}", "toa,toa.calls,celery", 1)


def toa_run() -> list[list[str]]:
    """One process that does the work of both."""
    return [manage("toa", "run")]


def wait(fact: Callable[[], bool], children: Sequence[Child] = (), every_s: float = 0.05) -> float:
    """Return once it is so, with how long that took in seconds; else raise with the processes' last words."""
    began = time.perf_counter()
    while not fact():
        if time.perf_counter() - began > WITHIN_S or any(child.is_over() for child in children):
            raise RuntimeError("\n".join(child.last_words(20) for child in children))
        time.sleep(every_s)
    return time.perf_counter() - began


def family(pid: int) -> Iterator[int]:
    """A process and all that descend from it."""
    yield pid
    with suppress(FileNotFoundError, ProcessLookupError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text(encoding="utf-8").split():
                yield from family(int(child))


def resident(pid: int) -> float:
    """Memory of a process and of those that it started, in MB, counting shared pages once for each."""
    found = 0.0
    for one in family(pid):
        with suppress(FileNotFoundError, ProcessLookupError):
            for line in Path(f"/proc/{one}/status").read_text(encoding="utf-8").splitlines():
                if line.startswith("VmRSS:"):
                    found += int(line.split()[1]) / 1_000
    return found


def broker_prefix(pid: int) -> str:
    """Of the names in the broker that belong to the benchmark that runs in this process."""
    return f"bench-{pid}-"


def forget_messages(prefix: str) -> None:
    """Remove what has such a name in the broker."""
    import redis

    with redis.Redis.from_url(servers.broker_url()) as client:
        for key in client.scan_iter(f"{prefix}*"):
            client.delete(key)
