"""What a claim costs: with little and with much pending, while an old snapshot is open; and sweeping.

python -m benchmarks claims
"""

from __future__ import annotations

import time

from benchmarks.databases import database
from benchmarks.harness import FEW, MUCH, QUICK, STEPS, Figure, percentile, say

DUE = 100
LOOKS = 100 if QUICK else 200
FIRED = 10_000 if QUICK else 50_000
ORDERS = 100_000 if QUICK else 1_000_000

_PENDING = """
INSERT INTO toa_delay (id, endpoint, request, due_at, wake_at, attempt, strikes, chain, created_at, source, entity)
SELECT ('01930000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, 'components.meters.add',
       '{"query": {"id": "0"}, "input": {"by": 1}}', m, m, 0, 0, '{}', now(), 'delay', ''
  FROM (SELECT n, now() + interval '1 day' + n * interval '1 ms' AS m FROM generate_series(%s, %s) AS n) AS moments
"""
_ORDERS = """
INSERT INTO components_meters_meter (id, count, open, until, created_at, updated_at, version)
SELECT gen_random_uuid(), 0, true, now() + (n - 101) * interval '1 minute' + interval '30 s', now(), now(), 1
  FROM generate_series(1, %s) AS n
"""


def main() -> None:
    with database():
        from django.db import connection, connections, transaction
        from django.test.utils import CaptureQueriesContext

        from benchmarks.load import METERS, arm_now, clear, subjects, unindexed
        from toa.cadence.calls import suspects
        from toa.cadence.calls.due import DELAYS, known_endpoints
        from toa.cadence.passes import Collected, run_pass
        from toa.cadence.serving import serve
        from toa.cadence.sessions import prepare_session
        from toa.models import Delay
        from toa.runtime import bindings
        from toa.runtime.requests import prepare
        from toa.runtime.selecting import select_ids

        serve()
        prepare_session()
        committed, _ = known_endpoints()

        def claim(since: int | None = None) -> float:
            """Find and lock what is due, a hundred at most, and give it back; ms."""
            began = time.perf_counter()
            with transaction.atomic():
                DELAYS.kind.claim_many(DELAYS.kind.due(committed, DUE, since))
                transaction.set_rollback(True)
            return (time.perf_counter() - began) * 1000

        def pending(first: int, last: int) -> None:
            with connection.cursor() as cursor:
                with unindexed("toa_delay"):
                    cursor.execute(_PENDING, [first, last])
                cursor.execute("VACUUM ANALYZE toa_delay")

        def claims() -> float:
            return percentile([claim() for _ in range(LOOKS)], 0.5)

        clear()
        arm_now(f"{METERS}.add", subjects(METERS, DUE))
        costs = {}
        before = 0
        # The first ones of a process prepare their statements.
        claims()
        for number in STEPS:
            pending(before + 1, number)
            before = number
            costs[number] = claims()
            say(
                Figure(
                    name=f"claim of {DUE} due, {number:,} pending",
                    value=costs[number],
                    unit="ms",
                    most=2 if number == MUCH else None,
                    plot="pending",
                    line="toa, 100 calls",
                    x=number,
                )
            )
        much, few = costs[MUCH], costs[FEW]
        say(Figure(name="claim, much beside little pending", value=much / few, unit="x", most=1.2))

        clear()
        arm_now(f"{METERS}.add", subjects(METERS, FIRED))
        beside = connections["default"].copy()
        with beside.cursor() as cursor:
            cursor.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
            cursor.execute("SELECT count(*) FROM toa_delay")
        looks = []
        try:
            while run_pass(Collected()).settled:
                looks += [claim(DELAYS._committed.since(_now())) for _ in range(5)]
        finally:
            beside.close()
        assert not Delay.objects.exists()
        name = f"claim p99 while a snapshot is open and {FIRED:,} fire"
        say(Figure(name=name, value=percentile(looks, 0.99), unit="ms", most=10))

        clear()
        with connection.cursor() as cursor:
            cursor.execute(_ORDERS, [ORDERS])
            cursor.execute("VACUUM ANALYZE components_meters_meter")
        component = bindings.component(METERS)
        query = {"criteria": f"open==true;until<{_now()}", "limit": 100, "sort": ["until"]}
        operation = component.operations["enumerate"]

        def find() -> float:
            began = time.perf_counter()
            wanted = prepare(operation, None, query).query
            assert wanted is not None
            assert len(select_ids(component, wanted)) == 100
            return (time.perf_counter() - began) * 1000

        found = percentile([find() for _ in range(LOOKS)], 0.5)
        with CaptureQueriesContext(connection) as queries:
            find()
        with connection.cursor() as cursor:
            cursor.execute(f"EXPLAIN {queries.captured_queries[-1]['sql']}")
            plan = " ".join(line for (line,) in cursor.fetchall())
        how = "index scan" if "Index" in plan and "Seq Scan" not in plan else plan
        say(Figure(name=f"sweep finds 100 due among {ORDERS:,} orders", value=found, unit="ms", most=5, note=how))
        suspects.close()


def _now() -> int:
    from toa.runtime import clock

    return clock.clock().now()


if __name__ == "__main__":
    main()
