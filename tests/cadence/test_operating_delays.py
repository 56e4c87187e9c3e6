"""What people do about stored calls, and the exact answer to each: cancel, move, fire; while nothing else happens, and
at the very moment when it does."""

import logging
from threading import Event, Thread
from uuid import UUID

import pytest
from django.db import connection, transaction

import toa
from tests.components.tallies.models import Tally
from tests.components.tallies.operations import add, errand, report
from tests.together import WITHIN_S, together
from toa.cadence.actions import delays
from toa.cadence.calls.due import DELAYS
from toa.cadence.calls.firing import fire
from toa.cadence.passes import Collected, run_pass
from toa.core.clock import to_datetime, to_moment
from toa.exceptions import Conflict, InvalidInput, LeaseLost, NotFound
from toa.models import Delay, History, Pulse, Schedule
from toa.runtime import bindings, delaying
from toa.runtime.context import delay_id

pytestmark = pytest.mark.django_db(transaction=True)

TALLIES = "components.tallies"
HOUR = 3_600_000


@pytest.fixture
def tally(toa_clock):
    """The id of a fresh tally, with nothing waiting and no pulse or schedule about to be due."""
    for model in (Pulse, Schedule):
        model.objects.update(wake_at=None, paused_at=to_datetime(toa_clock.now))
    identity = toa.call(f"{TALLIES}.create", {"name": "first"})["id"]
    toa_clock.run_until_idle()
    return identity


@pytest.fixture(autouse=True)
def nothing_noted():
    report.CALLS.clear()
    errand.CALLS.clear()
    errand.DURING.clear()


def adding(tally, by=5, interval="1h", **more):
    """A stored `add`, which a pass fires."""
    return toa.delay(
        f"{TALLIES}.add", {"query": {"id": tally}, "input": {"by": by}}, interval=interval, overdue=None, **more
    )


def on_errand(tally, interval="1h", **input):
    """A stored effect, which runs under a lease."""
    return toa.delay(f"{TALLIES}.errand", {"input": {"tally": tally, **input}}, interval=interval, overdue=None)


def outcomes(identity):
    return [(line.outcome, line.code) for line in History.objects.filter(call=UUID(identity)).order_by("id")]


def count():
    return Tally.objects.get().count


def elsewhere(act):
    """Run it in a thread with a connection of its own; `.result()` waits for what it returned or raised."""

    class Elsewhere(Thread):
        def run(self):
            try:
                self.outcome = act()
            except Exception as error:
                self.outcome = error
            finally:
                connection.close()

        def result(self):
            self.join(WITHIN_S)
            assert not self.is_alive()
            return self.outcome

    thread = Elsewhere()
    thread.start()
    return thread


def waits_for_a_lock():
    """Until some session of this database waits for a row. A look takes a millisecond, and nothing is assumed of it."""
    with connection.cursor() as cursor:
        for _ in range(20_000):
            cursor.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
            )
            if cursor.fetchone()[0]:
                return
    raise AssertionError("nobody came to wait")


# -- before, after, twice, never -------------------------------------------------------------------------------


@pytest.mark.parametrize("arm", [adding, on_errand])
def test_D4_cancelled_before_the_moment_it_never_begins(tally, toa_clock, arm):
    identity = arm(tally)
    toa_clock.advance(HOUR - 1)
    assert toa.delay.cancel(identity) == "cancelled"
    assert toa.delay.cancel(identity) == "already cancelled"
    toa_clock.advance("2h")
    assert (count(), errand.CALLS) == (0, [])
    assert outcomes(identity) == [("cancelled", "")]


@pytest.mark.parametrize("arm", [adding, on_errand])
def test_D4_cancelled_at_its_moment_before_anybody_began_it_never_begins(tally, toa_clock, arm):
    identity = arm(tally)
    toa_clock.set(toa_clock.now + HOUR)
    hints = Collected()
    if arm is on_errand:
        run_pass(hints)  # it is with the workers already
        assert len(hints.hints) == 1
    assert toa.delay.cancel(identity) == "cancelled"
    for hint in hints.hints:
        assert not DELAYS.perform(hint.endpoint, renew=False)
    toa_clock.run_until_idle()
    assert (count(), errand.CALLS) == (0, [])


@pytest.mark.parametrize("arm", [adding, on_errand])
def test_D4_cancelled_after_it_was_made(tally, toa_clock, arm):
    identity = arm(tally)
    toa_clock.advance("1h")
    assert toa.delay.cancel(identity) == "already made"
    assert toa.delay.cancel(identity) == "already made"
    assert toa.delay.move(identity, interval="1h") == "already made"
    assert outcomes(identity) == [("made", "")]


def test_D4_the_answer_about_a_settled_call_says_how_it_was_settled(tally, toa_clock):
    refused = adding(tally, by=1001)
    failed = toa.delay(
        f"{TALLIES}.meddle", {"query": {"id": tally}, "input": {"what": "unknown"}}, interval="1h", overdue=None
    )
    expired = toa.delay(f"{TALLIES}.report", {"input": {}}, interval="30m", overdue=0)
    replaced = adding(tally, key="payment")
    adding(tally, interval="9h", key="payment")
    toa_clock.set(toa_clock.now + HOUR)
    toa_clock.run_until_idle()
    answers = [toa.delay.cancel(identity) for identity in (refused, failed, expired, replaced)]
    assert answers == ["refused", "failed", "expired", "replaced"]
    assert [toa.delay.move(identity, interval=0) for identity in (refused, failed, expired, replaced)] == answers


def test_D4_an_id_that_was_never_issued(tally):
    with pytest.raises(NotFound, match="never issued"):
        toa.delay.cancel("0" * 32)
    for text in ("", "12", None, "g" * 32):
        with pytest.raises(InvalidInput):
            toa.delay.cancel(text)


# -- while it is being made ------------------------------------------------------------------------------------


def test_D4_while_the_effect_runs_its_token_is_withdrawn(tally, toa_clock):
    identity = on_errand(tally)
    answers = []

    def change_of_mind(context):
        answers.append(toa.delay.move(identity, interval="1h"))
        answers.append(toa.delay.cancel(identity))
        answers.append(toa.delay.cancel(identity))

    errand.DURING.append(change_of_mind)
    toa_clock.advance("2h")
    assert answers == ["being made", "being made", "already cancelled"]
    assert [note["added"] for note in errand.CALLS] == [False], (
        "what it asks for counts no more, and no other try follows"
    )
    assert (count(), Delay.objects.count()) == (0, 0)
    assert outcomes(identity) == [("cancelled", "while it was being made")]


def test_D4_an_effect_that_lost_its_lease_cancels_and_moves_nothing(tally, toa_clock):
    identity, other = on_errand(tally), adding(tally, interval="9h")
    refused = []

    def frozen(context):
        toa.delay.cancel(identity)
        for act in (lambda: context.delay.cancel(other), lambda: context.delay.move(other, interval="1m")):
            with pytest.raises(LeaseLost):
                act()
            refused.append(True)

    errand.DURING.append(frozen)
    toa_clock.advance("2h")
    assert len(refused) == 2
    assert to_moment(Delay.objects.get().due_at) == toa_clock.now + 7 * HOUR


def test_D4_while_a_pass_makes_it_a_cancel_waits_and_hears_the_end(tally, toa_clock, monkeypatch):
    identity = adding(tally)
    toa_clock.set(toa_clock.now + HOUR)
    begun, go_on = Event(), Event()

    def slow(input, entry, context):
        begun.set()
        assert go_on.wait(WITHIN_S)
        return add.transition(input, entry, context)

    monkeypatch.setattr(bindings.operation(f"{TALLIES}.add"), "function", slow)
    making = elsewhere(lambda: run_pass(Collected()).settled)
    assert begun.wait(WITHIN_S)
    cancelling = elsewhere(lambda: toa.delay.cancel(identity))
    waits_for_a_lock()
    go_on.set()
    assert (making.result() > 0, cancelling.result()) == (True, "already made")
    assert count() == 5


def test_D4_a_call_that_is_held_for_longer_than_the_patience_is_a_conflict(tally, monkeypatch):
    monkeypatch.setattr(delaying, "PATIENCE", "20ms")
    identity = adding(tally)
    with transaction.atomic():
        Delay.objects.select_for_update().get()
        refusal = elsewhere(lambda: toa.delay.cancel(identity)).result()
    assert isinstance(refusal, Conflict)
    assert "held" in str(refusal)
    assert toa.delay.cancel(identity) == "cancelled"


@pytest.mark.parametrize("arm", [adding, on_errand])
def test_D4_a_race_at_the_moment_ends_one_way_or_the_other(tally, toa_clock, arm):
    errands = 0
    for _ in range(25):
        before = count()
        identity = arm(tally, interval=0)

        def make():
            hints = Collected()
            run_pass(hints)
            for hint in hints.hints:
                DELAYS.perform(hint.endpoint, renew=False)

        answers = together(2, lambda i: toa.delay.cancel(identity) if i else make())  # noqa: B023
        added = count() - before
        errands, began = len(errand.CALLS), len(errand.CALLS) - errands
        assert answers[1] in ("cancelled", "already made", "being made")
        if answers[1] == "cancelled":
            assert (began, added) == (0, 0)
        if answers[1] == "already made":
            assert added > 0
        assert len(outcomes(identity)) == 1
        toa_clock.run_until_idle()
        assert count() == before + added


# -- in somebody's transaction ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("outcome", "stays"), [("error", True), ("raise", True), ("reply", False)])
def test_D4_a_cancel_in_a_transition_counts_if_the_transition_does(tally, toa_clock, outcome, stays):
    identity = adding(tally)
    disarm = lambda: toa.call(f"{TALLIES}.disarm", {"delay": identity, "outcome": outcome}, id=tally)  # noqa: E731
    if outcome == "raise":
        with pytest.raises(RuntimeError):
            disarm()
    else:
        disarm()
    assert Delay.objects.filter(id=UUID(identity)).exists() is stays
    toa_clock.advance("1h")
    assert count() == (5 if stays else 1)


def test_D4_a_cancel_in_a_transaction_that_rolls_back_did_nothing(tally, toa_clock):
    identity = adding(tally)
    with transaction.atomic():
        assert toa.delay.cancel(identity) == "cancelled"
        transaction.set_rollback(True)
    toa_clock.advance("1h")
    assert count() == 5
    assert outcomes(identity) == [("made", "")]


# -- moved -----------------------------------------------------------------------------------------------------


def test_D15_found_by_a_pass_and_moved_meanwhile_it_is_made_at_its_new_moment_only(tally, toa_clock):
    identity = adding(tally)
    toa_clock.set(toa_clock.now + HOUR)
    (found,) = DELAYS.kind.due([f"{TALLIES}.add"], 10, None)
    assert toa.delay.move(identity, interval="2h") == "moved"
    assert not fire(DELAYS.kind, found), "what the pass had found is not there any more"
    toa_clock.advance(2 * HOUR - 1)
    assert count() == 0
    toa_clock.advance(1)
    assert count() == 5
    assert outcomes(identity) == [("made", "")]


def test_D15_claimed_by_a_pass_while_its_entitys_own_transaction_moves_it(tally, toa_clock):
    identity = adding(tally)
    toa_clock.set(toa_clock.now + HOUR)
    moved, go_on = Event(), Event()

    def move():
        with transaction.atomic():
            toa.call(f"{TALLIES}.count_once", id=tally)
            toa.delay.move(identity, interval="2h")
            moved.set()
            assert go_on.wait(WITHIN_S)

    moving = elsewhere(move)
    assert moved.wait(WITHIN_S)
    step = run_pass(Collected())
    assert (step.settled, step.locked) == (0, 1), "it is left to who holds it, and not waited for"
    go_on.set()
    assert moving.result() is None
    toa_clock.advance(2 * HOUR - 1)
    assert count() == 2
    toa_clock.advance(1)
    assert (count(), outcomes(identity)) == (7, [("made", "")])


def test_a_move_counts_the_tries_afresh_and_keeps_the_key(tally, toa_clock):
    identity = on_errand(tally, interval=0, fail=2)
    toa_clock.run_until_idle()
    assert (Delay.objects.get().attempt, Delay.objects.get().error) == (1, "Transient: not yet")
    toa.delay.move(identity, interval="1h")
    assert (Delay.objects.get().attempt, Delay.objects.get().error) == (0, "")
    toa_clock.advance("2h")
    assert len({note["key"] for note in errand.CALLS}) == 1
    assert History.objects.get(call=UUID(identity)).attempt == 2


def test_D22_cancelled_between_two_tries_it_is_never_made(tally, toa_clock):
    identity = on_errand(tally, interval=0, fail=1)
    toa_clock.run_until_idle()
    assert (len(errand.CALLS), Delay.objects.get().attempt) == (1, 1)
    assert toa.delay.cancel(identity) == "cancelled"
    toa_clock.advance("2h")
    assert len(errand.CALLS) == 1
    assert outcomes(identity) == [("cancelled", "")]


# -- by an operator --------------------------------------------------------------------------------------------


def test_an_operators_name_stands_in_the_history_and_in_the_log(tally, toa_clock, caplog):
    caplog.set_level(logging.INFO, logger="toa.cadence")
    cancelled, moved = delay_id(adding(tally)), delay_id(adding(tally))
    assert delays.cancel(cancelled, "anna") == delays.CANCELLED
    assert delays.move(moved, "ben", interval="10m") == delays.MOVED
    assert outcomes(cancelled.hex) == [("cancelled", "by anna")]
    told = [(one.action, one.call, one.by, one.answer) for one in caplog.records if hasattr(one, "answer")]
    assert told == [("cancel_delay", cancelled.hex, "anna", "cancelled"), ("move_delay", moved.hex, "ben", "moved")]
    toa_clock.advance("10m")
    assert History.objects.get(call=moved).cause["moved_by"] == "ben"


def test_fired_by_hand_it_is_made_at_the_next_pass_and_nothing_about_it_is_late(tally, toa_clock):
    identity = delay_id(on_errand(tally, interval="9h"))
    toa_clock.set(toa_clock.now + HOUR)
    assert delays.fire(identity, "anna") == "fired"
    toa_clock.run_until_idle()
    line = History.objects.get(call=identity)
    assert (line.outcome, line.lateness_ms, to_moment(line.due_at)) == ("made", 0, toa_clock.now)
    assert count() == 1
    assert delays.fire(identity, "anna") == "already made"


def test_fired_by_hand_what_would_have_expired_is_made(tally, toa_clock):
    identity = delay_id(toa.delay(f"{TALLIES}.report", {"input": {}}, interval="1h", overdue=0))
    toa_clock.set(toa_clock.now + 2 * HOUR)
    delays.fire(identity, "anna")
    toa_clock.run_until_idle()
    assert (len(report.CALLS), outcomes(identity.hex)) == (1, [("made", "")])
