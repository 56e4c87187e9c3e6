"""`toa.call` of a transition beside what a team writes by hand, in one process on one database.

    python -m benchmarks.calls

`QUICK=1` makes fewer rounds. Both lock the row, change it, and write an outbox row in the same transaction; toa also
checks input and row against their schemas and raises VERSION.
"""

from __future__ import annotations

from itertools import count

from benchmarks.databases import database
from benchmarks.harness import QUICK, Figure, say, side_by_side

RATIO = 1.5
"""The most that `toa.call` may take, as a multiple of what was written by hand."""


def main() -> None:
    with database("tests.settings"):
        from django.db import transaction

        import toa
        from tests.components.tallies.models import Tally
        from toa.models import Once

        tally = toa.call("components.tallies.create", {"name": "bench"})["id"]
        numbers = count()

        def by_hand() -> None:
            with transaction.atomic():
                row = Tally.objects.select_for_update(no_key=True).get(id=tally)
                row.count = (row.count + 1) % 900
                row.save(update_fields=["count"])
                # Any small table with a JSON column serves as the outbox.
                Once.objects.create(
                    digest=str(next(numbers)),
                    endpoint="outbox",
                    fingerprint="",
                    reply={"count": row.count},
                    expires_at=row.updated_at,
                )

        def by_toa() -> None:
            toa.call("components.tallies.add", {"by": 1 if next(numbers) % 2 else -1}, id=tally)

        taken = side_by_side(
            {"by hand: select for update, save, outbox": by_hand, "toa.call, with its deliveries": by_toa},
            number=100 if QUICK else 400,
            rounds=5 if QUICK else 9,
        )
        for name, seconds in taken.items():
            say(Figure(name=name, value=seconds * 1e6, unit="us"))
        hand, ours = taken.values()
        say(Figure(name="toa.call of a transition, beside by hand", value=ours / hand, unit="x", most=RATIO))


if __name__ == "__main__":
    main()
