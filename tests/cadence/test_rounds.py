"""Deadlines in rounds: many instances in one transaction and few statements, each with the outcome it has by itself."""

import random
import re
from contextlib import contextmanager

import pytest
from django.conf import settings as django_settings
from django.db import connection, connections

import toa
from tests.components.claims.models import Claim
from tests.components.claims.operations import at_a
from tests.components.hazards.models import Hazard
from tests.components.ledgers.models import Ledger
from tests.components.tallies.models import Tally
from toa.cadence.calls import outcomes
from toa.cadence.deadlines import due
from toa.cadence.deadlines.due import DEADLINES
from toa.cadence.passes import Collected
from toa.core.clock import to_datetime
from toa.models import Delay, Delivery, Failure, History, Pulse, Revision, Schedule
from toa.runtime import bindings
from toa.testing.crashes import crash

CLAIMS, HAZARDS, TALLIES = "components.claims", "components.hazards", "components.tallies"
HOUR = 3_600_000
FUNCTION_MS = 200


@pytest.fixture(autouse=True)
def no_pulses(toa_clock, settings, monkeypatch):
    """Nothing but what a test is about comes due; whatever the run was asked for, it is due in rounds."""
    at_a.TRIES.clear()
    settings.TOA = {**django_settings.TOA, "SETWISE": True}
    monkeypatch.setattr(due, "FUNCTIONS_MS", 60_000)
    for model in (Pulse, Schedule):
        model.objects.update(wake_at=None, paused_at=to_datetime(toa_clock.now))


def hazards(number, moment, **values):
    """Instances due at that moment; their ids, in order."""
    rows = [
        Hazard(
            id=f"{place:032x}",
            moment=to_datetime(moment),
            created_at=to_datetime(moment),
            updated_at=to_datetime(moment),
            version=1,
            **values,
        )
        for place in range(1, number + 1)
    ]
    return [row.id for row in Hazard.objects.bulk_create(rows)]


def put(identity, **values):
    Hazard.objects.filter(id=identity).update(**values)


def step(limit=500):
    return DEADLINES.step(limit, Collected())


def sent():
    """The statements of a step from the lock on the rows to the end of its transaction, here a savepoint."""
    with crash() as statements:
        step()
    lock = next(number for number, sql in enumerate(statements.sent) if sql.endswith("UPDATE SKIP LOCKED"))
    end = next(place for place, sql in enumerate(statements.sent) if place > lock and sql.startswith("RELEASE"))
    return statements.sent[lock:end]


@contextmanager
def holding(identities):
    """Somebody else has these rows."""
    beside = connections["default"].copy()
    try:
        beside.set_autocommit(False)
        with beside.cursor() as cursor:
            cursor.execute(
                "SELECT 1 FROM components_hazards_hazard WHERE id = ANY(%s::uuid[]) FOR UPDATE", [identities]
            )
        yield
        beside.rollback()
    finally:
        beside.close()


@pytest.mark.django_db
@pytest.mark.parametrize("number", [2, 200])
def test_T18_the_number_of_statements_does_not_depend_on_the_number_of_instances(toa_clock, number):
    hazards(number, toa_clock.now, mode="tell")
    words = [sql.split()[0] for sql in sent()]
    # Lock the rows; ask for earlier events; write the rows; revisions, deliveries, history.
    assert words == ["SELECT", "SELECT", "UPDATE", "INSERT", "INSERT", "INSERT"]
    assert Hazard.objects.filter(count=1, version=2, moment=None).count() == number
    assert Revision.objects.filter(reached="moment").count() == number
    assert History.objects.filter(source="deadline", outcome="made").count() == number
    assert Delivery.objects.count() == number


@pytest.mark.django_db(transaction=True)
def test_T18_what_others_hold_is_left_out_and_those_behind_it_have_their_turn(toa_clock):
    first, *rest = hazards(10, toa_clock.now)
    with holding([first]):
        assert (step().settled, step().locked) == (9, 1)
    assert Hazard.objects.get(count=0).id.hex == first
    Hazard.objects.update(count=0, moment=to_datetime(toa_clock.now))
    with holding([first, *rest[:3]]):
        assert step(limit=4).settled >= 4, "the whole page was held"
    assert step(limit=4).full
    toa_clock.run_until_idle()
    assert not Hazard.objects.exclude(count=1, moment=None).exists()


@pytest.mark.django_db
def test_one_that_raises_costs_the_others_nothing_and_is_recorded_as_by_itself(toa_clock):
    mine = hazards(20, toa_clock.now)
    put(mine[7], mode="raise")
    statements = sent()
    assert sum(sql.startswith("UPDATE") for sql in statements) == 2, "all others by one statement"
    assert Hazard.objects.filter(count=1, clock_state=None).count() == 19
    failure = Failure.objects.get()
    assert (failure.entity, failure.error) == (f"{HAZARDS}:{mine[7]}", "ValueError: poison")
    assert Hazard.objects.get(id=mine[7]).clock_state == "failed"
    assert History.objects.get(outcome="failed").call == failure.call


@pytest.mark.django_db
def test_what_the_database_refuses_is_refused_for_its_instance_alone(toa_clock):
    _, *mine = hazards(6, toa_clock.now)
    Hazard.objects.exclude(id__in=mine).update(label="taken", moment=None)
    put(mine[2], mode="label")
    step()
    assert Failure.objects.get().entity == f"{HAZARDS}:{mine[2]}"
    assert Failure.objects.get().error.startswith("Conflict") and "label" in Failure.objects.get().error
    assert Hazard.objects.filter(count=1, moment=None).count() == 4


@pytest.mark.django_db
def test_T17_one_that_hangs_is_tried_again_alone_and_fails_after_its_tries(toa_clock, monkeypatch):
    monkeypatch.setattr(due, "FUNCTION_MS", FUNCTION_MS)
    hangs, *others = hazards(5, toa_clock.now)
    put(hangs, mode="hang")
    step()
    assert Hazard.objects.get(id=hangs).clock["attempts"] == 1
    assert not Hazard.objects.exclude(count=0).exists(), "the round was given up"
    step()
    assert Hazard.objects.filter(id__in=others, count=1).count() == 4
    for tried in (2, 3):
        toa_clock.set(toa_clock.now + 60_000)
        put(others[0], moment=to_datetime(toa_clock.now))
        step()
        assert Hazard.objects.get(id=others[0]).count == tried, "the others are not held up"
    assert Failure.objects.get().attempts == 3
    assert Failure.objects.get().error == f"TimeoutError: took longer than {FUNCTION_MS} ms"


@pytest.mark.django_db
def test_T4_one_deadline_of_each_instance_in_a_round(toa_clock):
    moment = toa_clock.now
    for place in range(3):
        toa.call(f"{CLAIMS}.set", {"a": moment - 1, "b": moment - 1, "chain": moment - 2}, id=f"{place:032x}")
    Claim.objects.update(log=[])
    step()
    assert [row.log for row in Claim.objects.all()] == [[moment - 2, "a", "b"]] * 3
    order = Revision.objects.exclude(reached="").order_by("id").values_list("reached", flat=True)
    assert list(order) == ["chain"] * 3 + ["a"] * 3 + ["b"] * 3


@pytest.mark.django_db(transaction=True)
def test_a_round_of_slow_functions_that_is_undone_is_run_all_the_same(toa_clock, monkeypatch):
    monkeypatch.setattr(due, "FUNCTIONS_MS", 50)
    mine = hazards(30, toa_clock.now - 1, count=0, mode="slow")
    put(mine[0], mode="label")
    put(mine[29], label="taken", moment=None)
    for _ in range(40):
        step()
    assert Hazard.objects.filter(count=1, moment=None).count() == 28
    assert Failure.objects.get().error.startswith("Conflict")


# -- with and without rounds --------------------------------------------------------------------------------------

TABLES = (Claim, Hazard, Tally, Ledger, Revision, History, Failure, Delay, Delivery)
MODES = (None, None, "leave", "again", "clears b", "error", "flaky", "broken", "past", "sends", "deaf", "listen")
STRIKES = (None, None, "raise", "arm", "name", "tell", "label", "label")


def populate(seed, clock):
    """Instances of all sorts, and events on their way to them, by the seed alone."""
    chance = random.Random(seed)
    start = clock.now
    table = bindings.component(TALLIES).table
    ids = [f"{chance.getrandbits(128):032x}" for _ in range(18)]
    blank = {"CREATED": start, "UPDATED": start, "VERSION": 1}
    table.insert_many([{**table.blank(one), **blank, "name": f"t{place}"} for place, one in enumerate(ids)])

    def moment():
        return chance.choice([None, None, start, start, start + 1, start + chance.randrange(5_000)])

    for place, one in enumerate(ids):
        given = {name: moment() for name in ("a", "b", "chain")}
        toa.call(f"{CLAIMS}.set", {**given, "mode": chance.choice(MODES)}, id=one)
        Claim.objects.filter(id=one).update(timeout_at=to_datetime(chance.choice([start, start + 2_000, start + HOUR])))
        if place % 6 == 0:
            Claim.objects.filter(id=one).update(**chance.choice(STATES)(start))
    for place, one in enumerate(ids):
        values = {"mode": chance.choice(STRIKES), "moment": start + place % 3}
        Hazard.objects.create(
            id=one, mode=values["mode"], moment=to_datetime(values["moment"]), version=1, **stamps(start)
        )
    for offset in (0, 1, 1_500, 4_000):
        clock.set(start + offset)
        for one in chance.sample(ids, 8):
            toa.call(f"{TALLIES}.add", {"by": 1}, id=one)
    stuck = Delivery.objects.filter(receiver=CLAIMS, target__in=chance.sample(ids, 3))
    stuck.update(endpoint=f"{CLAIMS}.not_yet")


def stamps(moment):
    return {"created_at": to_datetime(moment), "updated_at": to_datetime(moment)}


STATES = (
    lambda start: {"clock_state": "failed"},
    lambda start: {"clock_state": "closed"},
    lambda start: {"clock_state": "draining", "held_at": to_datetime(start), "clock": {"first": {"property": "a"}}},
    lambda start: {"deleted_at": to_datetime(start)},
    lambda start: {"held_at": to_datetime(start + 3_000)},
)


def everything():
    """All rows, but for ids that are made up anew each time: these stand as `*` wherever they are named."""
    kept = {one.hex for one in Tally.objects.values_list("id", flat=True)}
    kept |= {call.hex for call in History.objects.filter(source="deadline").values_list("call", flat=True)}

    def masked(text):
        return re.sub(r"\b[0-9a-f]{32,40}\b", lambda found: found[0] if found[0][:32] in kept else "*", text)

    found = {}
    for model in TABLES:
        # A traceback tells the way to an error, which is another one.
        names = [field.name for field in model._meta.fields if field.name != "traceback"]
        found[model.__name__] = sorted(
            masked(" ".join(f"{name}={getattr(value, 'hex', value)}" for name, value in row.items()))
            for row in model.objects.values(*names)
        )
    return found


@pytest.mark.django_db
@pytest.mark.parametrize("seed", range(2))
def test_T19_with_and_without_rounds_everything_ends_the_same(seed, toa_clock, settings, monkeypatch):
    monkeypatch.setattr(outcomes.random, "uniform", lambda least, most: 1.0)
    start = toa_clock.now
    ends = []
    for rounds in (True, False):
        settings.TOA = {**django_settings.TOA, "SETWISE": rounds}
        at_a.TRIES.clear()
        toa_clock.set(start)
        with connection.cursor() as cursor:
            for model in TABLES:
                cursor.execute(f"DELETE FROM {model._meta.db_table}")
        populate(seed, toa_clock)
        toa_clock.set(start + 5_000)
        toa_clock.run_until_idle()
        toa_clock.advance("2m")
        ends.append(everything())
    assert len(ends[0]["History"]) > 50 and len(ends[0]["Failure"]) > 3
    for name, rows in ends[0].items():
        assert rows == ends[1][name], name
