"""What every benchmark shares: a database of its own on the checkout's server, and medians over several runs."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

QUICK = os.environ.get("QUICK") == "1"


@contextmanager
def database() -> Iterator[None]:
    """Django on the components of the tests, with a fresh database that is dropped afterwards."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    import django
    from django.conf import settings

    settings.DATABASES["default"]["TEST"]["NAME"] = f"toa_bench_{os.getpid()}"
    settings.DEBUG = False
    django.setup()
    from django.db import connection

    connection.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False)
    try:
        yield
    finally:
        connection.creation.destroy_test_db(settings.DATABASES["default"]["NAME"], verbosity=0)


def seconds_each(act: Callable[[], object], number: int) -> float:
    """Seconds for one execution, over `number` of them in a row."""
    began = time.perf_counter()
    for _ in range(number):
        act()
    return (time.perf_counter() - began) / number


def side_by_side(acts: dict[str, Callable[[], object]], *, number: int, rounds: int) -> dict[str, float]:
    """The median of each action's seconds over rounds in which they take turns, so that all meet the same machine."""
    taken: dict[str, list[float]] = {name: [] for name in acts}
    for act in acts.values():
        seconds_each(act, max(1, number // 10))
    for _ in range(rounds):
        for name, act in acts.items():
            taken[name].append(seconds_each(act, number))
    return {name: statistics.median(values) for name, values in taken.items()}
