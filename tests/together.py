"""Calls side by side, on connections of their own."""

from __future__ import annotations

from collections.abc import Callable
from threading import Barrier, Thread
from typing import Any

from django.db import connection

WITHIN_S = 30


def together(number: int, act: Callable[[int], Any], within_s: float = WITHIN_S) -> list[Any]:
    """Run `act(i)` in as many threads, started at the same moment; returns what each returned or raised."""
    barrier = Barrier(number)
    results: list[Any] = [None] * number

    def run(index: int) -> None:
        try:
            barrier.wait(WITHIN_S)
            results[index] = act(index)
        except Exception as error:
            results[index] = error
        finally:
            connection.close()

    threads = [Thread(target=run, args=(index,)) for index in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(within_s)
        assert not thread.is_alive()
    return results
