"""Deadlines that are due together, in one process without a broker, in sets and one by one.

    python -m benchmarks deadlines

Each is of an object of its own, keeps a revision as every component with deadlines does, and clears itself.
"""

from __future__ import annotations

from benchmarks.databases import database
from benchmarks.harness import QUICK, Figure, Taken, middle, repeated, say, timed

TOGETHER = 5_000 if QUICK else 10_000
ALONE = 200 if QUICK else 1_000
ROUNDS = 3 if QUICK else 5


def main() -> None:
    with database():
        from django.db import connection

        from benchmarks.load import TIMERS, clear, drain, set_wise, subjects
        from toa.cadence.calls import suspects
        from toa.cadence.serving import serve
        from toa.cadence.sessions import prepare_session

        serve()
        prepare_session()

        def rounds(number: int) -> Taken:
            def one() -> Taken:
                clear()
                subjects(TIMERS, number)
                with connection.cursor() as cursor:
                    cursor.execute("UPDATE components_timers_timer SET moment = date_trunc('milliseconds', now())")
                    cursor.execute("ANALYZE components_timers_timer")
                taken = timed(drain)
                with connection.cursor() as cursor:
                    cursor.execute("SELECT count(*) FROM components_timers_timer WHERE count = 1 AND moment IS NULL")
                    assert cursor.fetchone() == (number,)
                return taken

            return middle(repeated(one, ROUNDS))

        for name, number, on in (("in sets", TOGETHER, True), ("one by one", ALONE, False)):
            set_wise(on)
            taken = rounds(number)
            note = f"{number:,} due; {number / taken.cpu:,.0f} per second of its processor time"
            say(Figure(name=f"deadlines reached {name}, one process", value=number / taken.wall, unit="/s", note=note))
        suspects.close()


if __name__ == "__main__":
    main()
