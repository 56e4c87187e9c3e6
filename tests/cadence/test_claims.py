"""What a claim costs: it grows with what is due, never with what is pending, held, dead or unknown."""

import json
import threading
from datetime import timedelta
from uuid import uuid4

import psycopg
import pytest
from django.db import connection, transaction

import toa
from tests.cadence.plans import Plan, emptied, plan_of, plans_of
from tests.components.hazards.models import Hazard
from toa.cadence.calls.due import DELAYS, known_endpoints
from toa.cadence.deadlines.due import DEADLINES
from toa.cadence.looking import Lookout
from toa.cadence.passes import Collected, run_pass
from toa.cadence.sources import horizon, lower
from toa.core.clock import to_datetime
from toa.models import Delay, History

HAZARDS, TALLIES = "components.hazards", "components.tallies"
TOUCH, ADD, REPORT = f"{HAZARDS}.touch", f"{TALLIES}.add", f"{TALLIES}.report"
PENDING = [50_000, pytest.param(1_000_000, marks=pytest.mark.slow)]
DUE = 200
FEW = 12
"""Pages to find the place in one index, with some to spare: its height, its leaf, and the row's own page."""


def stored(number, endpoint, moment, spread_ms=0, request=None):
    """Store calls by one statement, the first at `moment`, the others up to `spread_ms` later."""
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO toa_delay (id, endpoint, request, due_at, wake_at, attempt, strikes, chain, created_at,"
            " source, entity) SELECT gen_random_uuid(), %s, %s, m.at, m.at, 0, 0, '{}', m.at, 'delay', ''"
            " FROM (SELECT %s + random() * %s * interval '1 ms' AS at FROM generate_series(1, %s)) m",
            [endpoint, json.dumps(request or {}), to_datetime(moment), spread_ms, number],
        )


def analyzed(table):
    with connection.cursor() as cursor:
        cursor.execute(f"ANALYZE {table}")


@pytest.fixture
def pending(request, toa_clock):
    """Very many calls that are not due, a backlog for code that is not here, and two hundred that are due."""
    emptied("toa_delay")
    day = 24 * 3_600_000
    stored(request.param * 9 // 10, TOUCH, toa_clock.now + 1, 30 * day)
    stored(request.param // 20, REPORT, toa_clock.now + 1, 30 * day)
    stored(request.param // 20, "elsewhere.later.than", toa_clock.now - day, day - 1)
    stored(DUE, TOUCH, toa_clock.now - 10_000, 9_000)
    stored(DUE, REPORT, toa_clock.now - 10_000, 9_000)
    analyzed("toa_delay")
    return toa_clock.now


def cheap(plan: Plan, looks: int, rows: int, index: str = "toa_delay_claim"):
    """One look is one descent of the index; a row that is found, and written, may touch a page of its own in the table
    and in each index."""
    assert not plan.scanned("toa_delay"), plan.sql
    assert index in plan.indexes(), plan.sql
    assert plan.buffers <= looks * FEW + rows * 4, (plan.buffers, plan.sql)


@pytest.mark.django_db
@pytest.mark.parametrize("pending", PENDING, indirect=True)
def test_D18_every_look_and_claim_is_an_index_scan_of_few_pages(pending):
    committed, leased = known_endpoints()
    known = [*committed, *leased]
    kind = DELAYS.kind

    cheap(plan_of(lambda: kind.due(committed, 100, None)), len(committed), 100)
    cheap(plan_of(lambda: kind.due(committed, 1, None)), len(committed), 1)
    cheap(plan_of(lambda: kind.due(committed, 100, pending - 5_000)), len(committed), 100)
    cheap(plan_of(lambda: kind.push(leased, pending + 1000, 100, None)), len(leased), 100 * 10)
    cheap(plan_of(lambda: kind.lease(REPORT, uuid4(), pending, pending + 30_000, 1000)), 1, 6)
    cheap(plan_of(lambda: kind.waiting(REPORT, 1000)), 1, 1)
    cheap(plan_of(lambda: kind.leased(REPORT)), 1, 1, "toa_delay_leased")
    found = kind.due(committed, 100, None)
    assert len(found) == 100
    assert not plan_of(lambda: kind.claim(found[0])).scanned("toa_delay")
    many = plan_of(lambda: kind.claim_many(found))
    assert not many.scanned("toa_delay")
    assert many.buffers <= 100 * 8
    sql, parameters = kind.horizon(known, None)
    cheap(plan_of(lambda: select(sql, parameters)), 3 * len(known), 0)


@pytest.mark.django_db
def test_D18_a_claim_of_many_goes_by_their_ids_where_little_is_pending(toa_clock):
    """A join would be planned as a walk over all of it, whatever of it is due."""
    stored(5_000, TOUCH, toa_clock.now + 1_000, 3_600_000)
    stored(100, TOUCH, toa_clock.now - 10_000, 9_000)
    analyzed("toa_delay")
    found = DELAYS.kind.due([TOUCH], 100, None)
    assert len(DELAYS.kind.claim_many(found)) == 100
    assert not plan_of(lambda: DELAYS.kind.claim_many(found)).scanned("toa_delay")


@pytest.mark.django_db
@pytest.mark.parametrize("pending", PENDING, indirect=True)
def test_D18_a_look_at_all_sources_walks_over_nothing(pending):
    for plan in plans_of(horizon):
        assert not plan.scanned("toa_delay"), plan.sql
        assert plan.touched("toa_delay") <= 3 * FEW * 4 * len([name for names in known_endpoints() for name in names])


def select(sql, parameters):
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)


@pytest.mark.django_db
@pytest.mark.parametrize("instances", [20_000, pytest.param(1_000_000, marks=pytest.mark.slow)])
def test_T22_instances_far_ahead_or_held_cost_a_look_at_deadlines_nothing(toa_clock, instances):
    """Half of them have a deadline in a month, half are in back-off at the head."""
    table = Hazard._meta.db_table
    emptied(table)
    now = to_datetime(toa_clock.now)
    fields = "id, count, moment, held_at, clock, version, created_at, updated_at"
    with connection.cursor() as cursor:
        for moment, held in (
            (now + timedelta(days=30), None),
            (now - timedelta(seconds=60), now + timedelta(seconds=20)),
        ):
            cursor.execute(
                f"INSERT INTO {table} ({fields}) SELECT gen_random_uuid(), 0, %s, %s, NULL, 1, %s, %s"
                " FROM generate_series(1, %s)",
                [moment, held, now, now, instances // 2],
            )
    due = [toa.call(f"{HAZARDS}.create", {"moment": toa_clock.now - 1})["id"] for _ in range(3)]
    analyzed(table)

    sql, parameters = DEADLINES.horizon()
    look = plan_of(lambda: select(sql, parameters))
    assert not look.scanned(table)
    assert 0 < look.touched(table) <= 40
    claims = [plan for plan in plans_of(lambda: DEADLINES.step(100, Collected())) if f'"{table}"' in plan.sql]
    assert claims
    for plan in claims:
        assert not plan.scanned(table), plan.sql
        assert plan.touched(table) <= 100, plan.sql
    DEADLINES.step(100, Collected())
    assert Hazard.objects.filter(id__in=due, count=1, moment=None).count() == 3


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("number", [3_000, pytest.param(50_000, marks=pytest.mark.slow)])
def test_D17_a_snapshot_held_open_makes_claims_no_dearer(toa_clock, served, number):
    """A hundred come due each second, and are made; what is gone cannot be cleaned up meanwhile."""
    per_second = 100
    request = {"query": {"id": toa.call(f"{TALLIES}.create", {"name": "one"})["id"]}, "input": {"by": 0}}
    toa_clock.run_until_idle()
    for second in range(number // per_second):
        stored(per_second, ADD, toa_clock.now + 1000 * second + 1, 998, request)
    committed, _ = known_endpoints()
    cost = []
    with old_snapshot():
        while Delay.objects.exists():
            toa_clock.set(toa_clock.now + 1000)
            since = DELAYS._committed.since(toa_clock.now)
            cost.append(plan_of(lambda since=since: DELAYS.kind.due(committed, 100, since)).buffers)
            while DELAYS.step(100, Collected()).settled:
                """Until nothing of this second is left."""
        with connection.cursor() as cursor:
            # Page by page, as a planner without figures may choose, the dead would hide behind each other.
            cursor.execute("SET enable_bitmapscan = off")
        unbounded = plan_of(lambda: DELAYS.kind.due(committed, 100, None)).buffers
        with connection.cursor() as cursor:
            cursor.execute("RESET enable_bitmapscan")
    assert History.objects.filter(source="delay", outcome="made").count() == number
    assert len(cost) >= number // per_second
    settled = cost[10:]
    assert max(settled) <= 1.5 * settled[0], cost
    # The trap is there: a look from the very beginning walks over all that is dead.
    assert unbounded >= max(settled) + number // per_second


class old_snapshot:
    """A transaction on a connection of its own that sees the table as it is now for as long as it lasts."""

    def __enter__(self):
        self._other = psycopg.connect(**named_parameters())
        self._other.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        self._other.execute("SELECT count(*) FROM toa_delay")
        return self

    def __exit__(self, *error):
        self._other.close()


def named_parameters():
    given = connection.get_connection_params()
    return {name: given[name] for name in ("dbname", "user", "password", "host", "port") if given.get(name)}


@pytest.mark.django_db(transaction=True)
def test_D17_a_delay_committed_behind_the_watermark_is_found_by_the_look_at_everything(toa_clock, served):
    identity = toa.call(f"{HAZARDS}.create", {})["id"]
    lookout = Lookout()
    armed, may_commit = threading.Event(), threading.Event()

    def arm():
        try:
            with transaction.atomic():
                toa.delay(TOUCH, {"query": {"id": identity}, "input": {}}, interval="1s", overdue=None)
                armed.set()
                assert may_commit.wait(30)
        finally:
            connection.close()

    thread = threading.Thread(target=arm)
    thread.start()
    assert armed.wait(30)
    for _ in range(12):
        toa_clock.set(toa_clock.now + 1_000)
        lookout.look()
        run_pass(Collected())
    may_commit.set()
    thread.join()

    run_pass(Collected())
    assert Hazard.objects.get().count == 0  # it lies behind what this process looks at
    toa_clock.set(toa_clock.now + 999)
    assert (lookout.look().due, lookout.late) == (None, None)
    toa_clock.set(toa_clock.now + 1)
    assert lookout.look().due == lookout.late == int(Delay.objects.get().wake_at.timestamp() * 1000)
    lower(lookout.late)
    run_pass(Collected())
    assert Hazard.objects.get().count == 1
    assert Delay.objects.count() == 0
