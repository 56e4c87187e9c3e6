"""What beat and two workers do while nothing comes due for an hour, left alone and beside a thousand far arms a second.

    python -m benchmarks idle

Statements are the database's count of transactions: each of an idle process is one of its own. Those of the arming
client are taken off. Wake-ups are hints that reach whoever listens.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import psycopg

from benchmarks.databases import database
from benchmarks.harness import QUICK, Figure, say

IDLE_S = 4 if QUICK else 60
SETTLE_S = 12.0
"""A session that does nothing more tells the database's count of what it did within ten seconds."""
IN_ONE = 100
EACH_SECOND = 10
"""Calls of the arming client, and so many transactions."""

_STATEMENTS = "SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = current_database()"


def main() -> None:
    with database():
        from django.db import connection

        import toa
        from benchmarks.load import METERS, arm_now, subjects
        from benchmarks.processes import beat_and_workers, environment, running, wait
        from toa.models import Delay
        from toa.runtime.waking import CHANNEL

        one, *others = subjects(METERS, 101)

        def statements() -> int:
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_stat_force_next_flush()")
                cursor.execute(_STATEMENTS)
                return int(cursor.fetchone()[0])

        def far_arms(seconds: float) -> None:
            """So many a second, all of them an hour ahead."""
            for number in range(round(seconds * EACH_SECOND)):
                due = began + number / EACH_SECOND
                time.sleep(max(0.0, due - time.perf_counter()))
                toa.call(f"{METERS}.add_later", {"by": 1, "many": IN_ONE}, id=one)

        def nothing(seconds: float) -> None:
            time.sleep(seconds)

        def counted(act: Callable[[float], None], seconds: float) -> int:
            before = statements()
            act(seconds)
            return statements() - before

        counted(nothing, 0)
        of_counting = counted(nothing, 0)
        with (
            running(*beat_and_workers()) as children,
            psycopg.connect(environment()["DATABASE_URL"], autocommit=True) as listener,
        ):
            listener.execute(f"LISTEN {CHANNEL}")
            arm_now(f"{METERS}.add", others)
            wait(lambda: not Delay.objects.filter(source="delay", entity="").exists(), children)
            time.sleep(SETTLE_S)
            for name, act, own in (
                ("nothing due", nothing, 0),
                (f"{IN_ONE * EACH_SECOND:,} far arms a second", far_arms, EACH_SECOND),
            ):
                for _ in listener.notifies(timeout=0.1):
                    pass
                began = time.perf_counter()
                rate = (counted(act, IDLE_S) - of_counting) / IDLE_S - own
                hints = sum(1 for _ in listener.notifies(timeout=0.5)) / IDLE_S
                label = f"statements while idle, {name}, beat and two workers"
                say(Figure(name=label, value=rate, unit="/s", most=5))
                say(Figure(name=f"wake-ups by hints, {name}", value=hints, unit="/s", most=1))


if __name__ == "__main__":
    main()
