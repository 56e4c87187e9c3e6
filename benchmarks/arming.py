"""Arming: what a delay adds to a transition, many in one transition, and one for each of many clients' commits.

python -m benchmarks arming
"""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.databases import database
from benchmarks.harness import CLIENTS, QUICK, Figure, Taken, in_step, middle, repeated, say, side_by_side, timed

MANY = 10_000
EACH = 100 if QUICK else 500
SHARE = 1.15
"""The most that a transition may take with a delay, as a multiple of one without."""

# From the first that was stored to the last.
_RATE = "SELECT (count(*) - 1) / extract(epoch FROM max(created_at) - min(created_at)) FROM toa_delay"


def main() -> None:
    with database():
        from django.db import connection, connections

        import toa
        from benchmarks.by_hand import keyed_inserts
        from benchmarks.load import METERS, clear, subjects
        from benchmarks.processes import environment

        (one,) = subjects(METERS, 1)
        taken = side_by_side(
            {
                "a transition": lambda: toa.call(f"{METERS}.add", {"by": 1}, id=one),
                "a transition that arms a delay": lambda: toa.call(f"{METERS}.add_later", {"by": 1}, id=one),
            },
            number=100 if QUICK else 400,
            rounds=5 if QUICK else 9,
        )
        without, with_one = taken.values()
        for name, seconds in taken.items():
            say(Figure(name=name, value=seconds * 1e6, unit="us"))
        say(Figure(name="arming, beside the transition without", value=with_one / without, unit="x", most=SHARE))

        def many() -> Taken:
            clear()
            (one,) = subjects(METERS, 1)
            return timed(lambda: toa.call(f"{METERS}.add_later", {"by": 1, "many": MANY}, id=one))

        taken_by_many = middle(repeated(many, 3 if QUICK else 7))
        note = f"{MANY / taken_by_many.cpu:,.0f} per second of its processor time"
        say(Figure(name="armed in one transition", value=MANY / taken_by_many.wall, unit="/s", least=30_000, note=note))

        address = environment()["DATABASE_URL"]

        def keyed(identity: str, ready: Callable[[], object]) -> None:
            toa.call(f"{METERS}.add", {"by": 1}, id=identity)
            ready()
            for number in range(EACH):
                toa.call(f"{METERS}.add_later", {"by": 1, "key": f"k{number}"}, id=identity)

        def bare(identity: str, ready: Callable[[], object]) -> None:
            keyed_inserts(address, identity, EACH, ready)

        def by_clients(act: Callable[[str, Callable[[], object]], None]) -> float:
            clear()
            mine = subjects(METERS, CLIENTS)
            connections.close_all()
            in_step(lambda which, ready: act(mine[which], ready))
            with connection.cursor() as cursor:
                cursor.execute(_RATE)
                return float(cursor.fetchone()[0])

        note = f"of {CLIENTS * EACH:,}"
        name = f"one keyed arm a commit, {CLIENTS} clients"
        say(Figure(name=name, value=by_clients(keyed), unit="/s", least=8_000, note=note))
        name = f"by hand: one keyed INSERT a commit, {CLIENTS} clients"
        say(Figure(name=name, value=by_clients(bare), unit="/s", note=note))


if __name__ == "__main__":
    main()
