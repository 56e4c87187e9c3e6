"""Firing in sets: the same outcome as call by call, in one transaction and few statements."""

import itertools
from collections import Counter

import pytest
from django.conf import settings as django_settings
from django.db import connections, transaction

import toa
from tests.components.ledgers.models import Ledger
from tests.components.seats.models import Seat
from tests.components.tallies.models import Tally
from toa.cadence.calls import guarding
from toa.cadence.calls.due import DELAYS
from toa.cadence.passes import Collected, run_pass
from toa.models import Delay, Delivery, Failure, History, Revision
from toa.testing.crashes import COMMIT, crash, everywhere

pytestmark = pytest.mark.django_db(transaction=True)

SEATS = "components.seats"
TALLIES = "components.tallies"
UNKNOWN = "f" * 32
FUNCTION_MS = 200


@pytest.fixture(autouse=True)
def in_sets(settings):
    """Whatever the run was asked for: these tests are about sets."""
    settings.TOA = {**django_settings.TOA, "SETWISE": True}


@pytest.fixture
def ample(monkeypatch):
    """All functions of a pass run in it, however busy the machine is."""
    monkeypatch.setattr(guarding, "FUNCTIONS_MS", 60_000)


def seats(number):
    """Fresh objects, with their first revision; their ids."""
    with transaction.atomic():
        return [toa.call(f"{SEATS}.create")["id"] for _ in range(number)]


def take(identity, due=0, **given):
    """Arm a call; `due` is ms from now. Its id."""
    request = {"query": {"id": identity}, "input": given}
    return toa.delay(f"{SEATS}.take", request, interval=due, overdue=None)


def one_pass():
    return run_pass(Collected())


def outcomes(source="delay"):
    """How many calls of that source ended in each way."""
    found: dict[str, int] = {}
    for outcome in History.objects.filter(source=source).values_list("outcome", flat=True):
        found[outcome] = found.get(outcome, 0) + 1
    return found


def sent(act):
    """The statements about seats and delays, from the lock on the objects on."""
    with crash() as statements:
        act()
    lock = 'SELECT replace("id"::text'
    begin = next(number for number, sql in enumerate(statements.sent) if sql.startswith(lock))
    return statements.sent[begin : statements.sent.index(COMMIT, begin) + 1]


def test_D10_of_500_three_fail_each_in_its_own_way_and_497_are_made(toa_clock, ample):
    mine = seats(500)
    holder = toa.call(f"{SEATS}.create")["id"]
    Seat.objects.filter(id=holder).update(label="taken")
    with transaction.atomic():
        calls = [take(identity) for identity in mine[3:]]
    raises = take(mine[0], mode="raise")
    breaks = take(mine[1], label="taken")
    unfit = take(mine[2], tally=UNKNOWN)
    toa_clock.run_until_idle()

    assert outcomes() == {"made": 497, "failed": 3}
    assert {call.hex for call in History.objects.filter(outcome="made").values_list("call", flat=True)} == set(calls)
    errors = {call.hex: error for call, error in Failure.objects.values_list("call", "error")}
    assert errors.keys() == {raises, breaks, unfit}
    assert errors[raises] == "ValueError: not this one"
    assert errors[breaks].startswith("Conflict") and "label" in errors[breaks]
    assert errors[unfit].startswith("Conflict") and "fk" in errors[unfit]
    assert not Seat.objects.filter(id__in=mine[:3]).exclude(count=0).exists()
    assert Seat.objects.filter(id__in=mine[3:], count=1, version=2).count() == 497
    assert Revision.objects.filter(endpoint=f"{SEATS}.take").count() == 497
    assert Delay.objects.count() == 0


def test_D10_one_that_raises_costs_the_others_nothing(toa_clock, ample):
    mine = seats(20)
    for identity in mine[1:]:
        take(identity)
    take(mine[0], mode="raise")
    statements = sent(one_pass)
    assert outcomes() == {"made": 19, "failed": 1}
    assert sum(sql.startswith("UPDATE") for sql in statements) == 1, "all in one transaction, by one statement"


def test_a_set_of_slow_functions_that_is_undone_is_made_all_the_same(toa_clock):
    mine = seats(30)
    toa.call(f"{SEATS}.take", {"label": "gone"}, id=mine[0])
    take(mine[1], mode="slow", label="gone")
    for identity in mine[2:]:
        take(identity, mode="slow")
    for _ in range(40):
        one_pass()
    assert outcomes() == {"made": 28, "failed": 1}


def test_a_backlog_of_slow_functions_leaves_time_for_others_in_each_pass(toa_clock):
    """For another component, for another endpoint of the same one, and for what is fired alone."""
    tallies = [toa.call(f"{TALLIES}.create", {"name": f"{number}"})["id"] for number in range(3)]
    others = seats(3)
    for identity in seats(60):
        take(identity, mode="slow")
    toa_clock.set(toa_clock.now + 1)
    for identity in tallies:
        request = {"query": {"id": identity}, "input": {}}
        toa.delay(f"{TALLIES}.add", request, interval=0, overdue=None)
    for identity in others:
        toa.delay(f"{SEATS}.give", {"query": {"id": identity}, "input": {"mark": 1}}, interval=0, overdue=None)
    takes_back = {"query": {"id": tallies[0]}, "input": {"delay": UNKNOWN}}
    toa.delay(f"{TALLIES}.disarm", takes_back, interval=0, overdue=None)

    one_pass()
    made = Counter(History.objects.filter(outcome="made").values_list("endpoint", flat=True))
    assert made[f"{TALLIES}.add"] == 3
    assert made[f"{TALLIES}.disarm"] == 1
    assert made[f"{SEATS}.give"] == 3
    assert 0 < made[f"{SEATS}.take"] < 40


def test_D21_500_delays_on_one_object_take_effect_in_due_order(toa_clock, ample):
    (seat,) = seats(1)
    # Armed in another order than they are due in.
    with transaction.atomic():
        for number in sorted(range(500), key=lambda number: (number * 37) % 500):
            take(seat, due=1 + number, mark=number)
    toa_clock.set(toa_clock.now + 500)
    toa_clock.run_until_idle()

    row = Seat.objects.get()
    assert (row.count, row.version, row.marks) == (500, 501, list(range(500)))
    revisions = list(Revision.objects.order_by("version").values_list("version", "changes", "outside"))
    assert [version for version, _, _ in revisions] == list(range(1, 502))
    assert [changes["count"] for _, changes, _ in revisions[1:]] == [[number, number + 1] for number in range(500)]
    assert not any(outside for _, _, outside in revisions), "each began where the one before it ended"
    assert outcomes() == {"made": 500}


def test_a_change_from_outside_is_seen_by_the_first_of_a_set_alone(toa_clock, ample):
    (seat,) = seats(1)
    Seat.objects.update(label="by hand")
    for number in range(3):
        take(seat, mark=number)
    one_pass()
    assert list(Revision.objects.order_by("version").values_list("outside", flat=True)) == [False, True, False, False]


def test_D21_each_of_several_on_one_object_raises_its_own_events(toa_clock, ample):
    tally = toa.call(f"{TALLIES}.create", {"name": "one"})["id"]
    toa_clock.run_until_idle()
    for number in range(1, 51):
        toa.delay(f"{TALLIES}.add", {"query": {"id": tally}, "input": {"by": 1}}, interval=number, overdue=None)
    toa_clock.set(toa_clock.now + 50)
    toa_clock.run_until_idle()
    assert (Tally.objects.get().count, Tally.objects.get().version) == (50, 51)
    lines = Ledger.objects.get(id=tally).lines
    assert [line for line in lines if "updated" in line] == [
        f"{number + 1} updated to {number}" for number in range(1, 51)
    ]
    assert lines.count("11 filled") == 1
    assert (Delay.objects.count(), Delivery.objects.count()) == (0, 0)


@pytest.mark.parametrize(
    ("given", "outcome"),
    [({"mode": "raise"}, "failed"), ({"mode": "unfit"}, "failed"), ({"mode": "error"}, "refused")],
)
def test_one_that_raises_leaves_its_object_to_those_behind_it_as_it_was(toa_clock, ample, given, outcome):
    (seat,) = seats(1)
    take(seat, mark=1)
    take(seat, mark=2, **given)
    take(seat, mark=3)
    one_pass()
    row = Seat.objects.get()
    assert (row.count, row.version, row.marks) == (2, 3, [1, 3])
    assert outcomes() == {"made": 2, outcome: 1}


def test_one_that_raises_for_a_transient_reason_comes_again_by_itself(toa_clock, ample):
    mine = seats(2)
    again = take(mine[0], mode="transient")
    take(mine[1])
    one_pass()
    waiting = Delay.objects.get()
    assert (waiting.id.hex, waiting.attempt) == (again, 1)
    assert waiting.wake_at > waiting.due_at
    assert outcomes() == {"made": 1}


def test_falling_back_one_by_one_leaves_exact_failures_on_one_object(toa_clock, ample):
    """A refused statement takes the whole set back; call by call each one meets what the ones before it left."""
    first, second = seats(2)
    take(first, due=1, label="mine", mark=1)
    broken = take(second, due=2, label="mine", mark=2)
    take(second, due=3, label="theirs", mark=3)
    toa_clock.set(toa_clock.now + 3)
    one_pass()
    assert Failure.objects.get().call.hex == broken
    rows = {row.id.hex: (row.count, row.version, row.label, row.marks) for row in Seat.objects.all()}
    assert rows == {first: (1, 2, "mine", [1]), second: (1, 2, "theirs", [3])}
    assert outcomes() == {"made": 2, "failed": 1}


def test_two_that_exchange_a_unique_value_one_after_the_other_are_both_made(toa_clock, ample):
    first, second = seats(2)
    Seat.objects.filter(id=first).update(label="front")
    take(first, due=1, label="back")
    take(second, due=2, label="front")
    toa_clock.set(toa_clock.now + 2)
    toa_clock.run_until_idle()
    assert outcomes() == {"made": 2}
    assert {row.id.hex: row.label for row in Seat.objects.all()} == {first: "back", second: "front"}


def test_calls_that_name_what_they_arm_keep_their_order_in_the_pass(toa_clock, ample):
    first, second = seats(2)
    for number in range(6):
        take(first, due=1 + number, mark=number, **({"arm": "next"} if number in (2, 4) else {}))
        take(second, due=1 + number, mark=number)
    toa_clock.set(toa_clock.now + 6)
    one_pass()
    assert [row.marks for row in Seat.objects.all()] == [list(range(6))] * 2
    assert outcomes() == {"made": 12, "replaced": 1}
    (left,) = Delay.objects.all()
    assert left.request["input"] == {"mark": 1004}


def test_a_call_of_a_set_that_takes_another_one_of_it_back_is_obeyed(toa_clock, ample):
    first, second = seats(2)
    victim = take(second, due=2, mark=7)
    request = {"query": {"id": first}, "input": {"delay": victim, "mark": 1}}
    toa.delay(f"{SEATS}.recall", request, interval=1, overdue=None)
    take(first, due=3, mark=2)
    toa_clock.set(toa_clock.now + 3)
    toa_clock.run_until_idle()
    made = History.objects.filter(call=victim).values_list("outcome", flat=True)
    assert list(made) in (["made"], ["cancelled"]), "whichever came first, and never both"
    assert Seat.objects.get(id=second).marks == ([7] if list(made) == ["made"] else [])
    assert Seat.objects.get(id=first).marks == [1, 2]


def test_a_held_object_is_passed_over_and_later_fired_with_patience(toa_clock, ample):
    held, *others = seats(4)
    mine = take(held, mark=0)
    for identity in others:
        take(identity)
    beside = connections["default"].copy()
    try:
        beside.set_autocommit(False)
        with beside.cursor() as cursor:
            cursor.execute("SELECT 1 FROM components_seats_seat WHERE id = %s FOR NO KEY UPDATE", [held])
        step = one_pass()
        assert (step.settled, step.locked) == (3, 1)
        assert Delay.objects.get().id.hex == mine

        toa_clock.set(toa_clock.now + 1000)
        with crash() as statements:
            one_pass()
        assert "SET LOCAL lock_timeout = '100ms'" in statements.sent, "now it is waited for, and not for long"
        assert Delay.objects.get().id.hex == mine
        beside.rollback()
    finally:
        beside.close()
    one_pass()
    assert outcomes() == {"made": 4}
    assert Seat.objects.get(id=held).marks == [0]


def test_a_held_call_is_left_out_and_the_others_of_its_object_are_made(toa_clock, ample):
    (seat,) = seats(1)
    held = take(seat, mark=1)
    take(seat, mark=2)
    take(seat, mark=3)
    beside = connections["default"].copy()
    try:
        beside.set_autocommit(False)
        with beside.cursor() as cursor:
            cursor.execute("SELECT 1 FROM toa_delay WHERE id = %s FOR UPDATE", [held])
        step = one_pass()
        assert (step.settled, step.locked) == (2, 1)
        beside.rollback()
    finally:
        beside.close()
    assert Seat.objects.get().marks == [2, 3]
    one_pass()
    assert Seat.objects.get().marks == [2, 3, 1]


def test_one_that_hangs_in_a_set_has_a_strike_of_its_own_and_fails_after_three(toa_clock, monkeypatch):
    monkeypatch.setattr(guarding, "FUNCTION_MS", FUNCTION_MS)
    first, *others = seats(5)
    hangs = take(first, mode="hang")
    good = [take(identity) for identity in others]
    passes = 0
    while not Failure.objects.exists():
        assert passes < 8
        one_pass()
        passes += 1
        struck = dict(Delay.objects.filter(strikes__gt=0).values_list("id", "strikes"))
        assert {identity.hex for identity in struck} <= {hangs}
    assert Failure.objects.get().call.hex == hangs
    assert Failure.objects.get().error == f"took longer than {FUNCTION_MS} ms"
    assert outcomes() == {"made": 4, "failed": 1}
    assert {call.hex for call in History.objects.filter(outcome="made").values_list("call", flat=True)} == set(good)
    assert Seat.objects.get(id=first).count == 0


def test_functions_share_their_time_and_the_rest_is_left_to_the_next_pass(toa_clock, monkeypatch):
    """However little time there is, one has its turn."""
    monkeypatch.setattr(guarding, "FUNCTIONS_MS", 0)
    for identity in seats(3):
        take(identity)
    step = one_pass()
    assert (step.settled, step.locked, step.full, Delay.objects.count()) == (1, 0, True, 2)
    monkeypatch.setattr(guarding, "FUNCTIONS_MS", 60_000)
    assert one_pass().settled == 2


def test_what_is_overdue_expires_within_the_set(toa_clock, ample):
    late, fine = seats(2)
    request = {"query": {"id": late}, "input": {}}
    toa.delay(f"{SEATS}.take", request, interval=0, overdue=0)
    take(fine)
    toa_clock.set(toa_clock.now + 5_000)
    one_pass()
    assert outcomes() == {"made": 1, "expired": 1}
    assert (Seat.objects.get(id=late).count, Seat.objects.get(id=fine).count) == (0, 1)


def test_objects_that_are_not_there_are_refused_within_the_set(toa_clock, ample):
    (seat,) = seats(1)
    take(seat)
    take(UNKNOWN)
    toa.call(f"{SEATS}.terminate", id=(gone := toa.call(f"{SEATS}.create")["id"]))
    take(gone)
    one_pass()
    assert outcomes() == {"made": 1, "refused": 2}


def test_calls_on_one_object_that_does_not_exist_yet_create_it_once(toa_clock, ample):
    for number in range(3):
        request = {"query": {"id": "a" * 32}, "input": {"line": f"line {number}"}}
        toa.delay("components.ledgers.note", request, interval=number, overdue=None)
    toa_clock.set(toa_clock.now + 3)
    one_pass()
    row = Ledger.objects.get()
    assert (row.lines, row.version) == (["line 0", "line 1", "line 2"], 3)


@pytest.mark.parametrize("number", [5, 50])
def test_the_number_of_statements_does_not_depend_on_the_number_of_calls(toa_clock, ample, number):
    for identity in seats(number):
        take(identity)
    words = [sql.split()[0] for sql in sent(one_pass)]
    # Lock the objects and the calls; write the rows; look at constraints; revisions; settle; history.
    assert words == ["SELECT", "SELECT", "UPDATE", "SET", "SET", "INSERT", "DELETE", "INSERT", COMMIT]
    assert outcomes() == {"made": number}


def test_D5_kill_anywhere_in_a_set_and_everything_is_made_once(toa_clock, ample):
    names = itertools.count()
    subjects = []

    def prepare():
        subjects.clear()
        subjects.extend(toa.call(f"{TALLIES}.create", {"name": f"t{next(names)}"})["id"] for _ in range(3))
        toa_clock.run_until_idle()
        for number, identity in enumerate([*subjects, subjects[0]]):
            request = {"query": {"id": identity}, "input": {"by": 1 + number}}
            toa.delay(f"{TALLIES}.add", request, interval=0, overdue=None)
        return lambda: DELAYS.step(500, Collected())

    places = 0
    for place in everywhere(prepare):
        places += 1
        toa_clock.run_until_idle()
        rows = {row.id.hex: (row.count, row.version) for row in Tally.objects.filter(id__in=subjects)}
        assert rows == dict(zip(subjects, [(5, 3), (2, 2), (3, 2)], strict=True)), place
        lines = [Ledger.objects.get(id=identity).lines for identity in subjects]
        assert lines == [
            ["1 created", "2 updated to 1", "3 updated to 5"],
            ["1 created", "2 updated to 2"],
            ["1 created", "2 updated to 3"],
        ], place
        assert History.objects.filter(source="delay").count() == 4 * places, place
    assert places >= 16
    toa_clock.run_until_idle()
    assert (Delay.objects.count(), Delivery.objects.count(), Failure.objects.count()) == (0, 0, 0)
