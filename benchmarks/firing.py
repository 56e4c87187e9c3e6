"""Firing delays in one process without a broker, beside loops written by hand.

    python -m benchmarks firing

Everything that fires for real is on: the process's docket, the watermark, both schema checks, and a line of history
for each call.
"""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.databases import database
from benchmarks.harness import QUICK, Figure, Taken, middle, repeated, say, timed

DISTINCT = 10_000
WARM = 1_000
ON_ONE = 500
ALONE = 300 if QUICK else 1_000
WITH_EVENTS = 2_000 if QUICK else 10_000
ROUNDS = 3 if QUICK else 7


def main() -> None:
    with database():
        from benchmarks.by_hand import django_loop, psycopg_loop
        from benchmarks.load import GAUGES, METERS, arm_now, clear, drain, set_wise, subjects
        from toa.cadence.calls import suspects
        from toa.cadence.serving import serve
        from toa.cadence.sessions import prepare_session

        serve()
        prepare_session()

        def rounds(component: str, number: int, act: Callable[[], object], on_one: bool = False) -> Taken:
            def one() -> Taken:
                clear()
                made = subjects(component, 1 if on_one else number)
                arm_now(f"{component}.add", made * number if on_one else made)
                return timed(act)

            return middle(repeated(one, ROUNDS))

        def told(name: str, number: int, taken: Taken, least: float | None = None) -> None:
            note = f"{number:,} due; {number / taken.cpu:,.0f} per second of its processor time"
            say(Figure(name=name, value=number / taken.wall, unit="/s", least=least, note=note))

        arm_now(f"{METERS}.add", subjects(METERS, WARM))
        drain()
        told("fired, one process", DISTINCT, rounds(METERS, DISTINCT, drain), 8_000)
        told("by hand: psycopg, in sets", DISTINCT, rounds(METERS, DISTINCT, psycopg_loop))
        told(f"{ON_ONE} due on one object", ON_ONE, rounds(METERS, ON_ONE, drain, on_one=True), 4_000)
        set_wise(False)
        told("fired one by one", ALONE, rounds(METERS, ALONE, drain), 900)
        set_wise(True)
        told("by hand: Django, one by one", ALONE, rounds(METERS, ALONE, django_loop))
        told("fired with revisions, and an event of each fired", WITH_EVENTS, rounds(GAUGES, WITH_EVENTS, drain))
        suspects.close()


if __name__ == "__main__":
    main()
