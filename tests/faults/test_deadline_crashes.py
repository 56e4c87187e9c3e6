"""A crash before and after every statement of deadlines and drains: each step runs exactly once."""

import pytest
from django.conf import settings as django_settings

import toa
from tests.components.claims.models import Claim
from tests.components.claims.operations import at_a
from toa.cadence.actions.failures import discard, retry
from toa.cadence.deadlines.draining import drain
from toa.cadence.deadlines.due import DEADLINES
from toa.cadence.deadlines.instances import reach
from toa.cadence.passes import Collected
from toa.core.identity import uuid7
from toa.models import Delivery, Failure, History, Revision
from toa.runtime import bindings
from toa.testing.crashes import everywhere

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("only_deadlines")]

CLAIMS = "components.claims"
TALLIES = "components.tallies"
HOUR = 3_600_000


@pytest.fixture
def process(toa_clock):
    """Make a process with nothing waiting, as often as it is called."""
    made = []

    def make(**values):
        identity = toa.call(f"{TALLIES}.create", {"name": f"t{len(made)}"})["id"]
        made.append(identity)
        toa_clock.run_until_idle()
        toa.call(f"{CLAIMS}.set", values, id=identity)
        Claim.objects.filter(id=identity).update(log=[])
        return identity

    return make


def claims():
    return bindings.component(CLAIMS)


def test_T15_a_drain_killed_anywhere_goes_on_and_no_step_runs_twice(process, toa_clock):
    subjects = []

    def prepare():
        start = toa_clock.now
        subject = process(a=start, b=start + 2_000, mode="broken")
        subjects.append(subject)
        toa_clock.run_until_idle()
        for offset in (1_000, 3_000):
            toa_clock.set(start + offset)
            toa.call(f"{TALLIES}.add", {"by": 1}, id=subject)
            toa_clock.run_until_idle()
        Claim.objects.filter(id=subject).update(mode=None)
        retry(Failure.objects.get().id, by="ann")
        return lambda: drain(claims(), subject)

    lengths = set()
    for place in everywhere(prepare):
        lengths.add(len(Claim.objects.get(id=subjects[-1]).log))
        toa_clock.run_until_idle()
        row = Claim.objects.get(id=subjects[-1])
        assert row.log == ["a", "updated 1", "b", "updated 2"], place
        assert (row.clock_state, row.held_at, row.clock) == (None, None, None), place
        assert (Failure.objects.count(), Delivery.objects.count()) == (0, 0), place
        reached = Revision.objects.filter(component=CLAIMS, entity=subjects[-1]).exclude(reached="")
        assert sorted(reached.values_list("reached", flat=True)) == ["a", "b"], place
        made = History.objects.filter(entity=f"{CLAIMS}:{subjects[-1]}", outcome="made", source="deadline")
        assert made.count() == 2, place
    assert lengths == {0, 1, 2, 3, 4}, "it was killed between any two steps"


def test_T15_a_retry_killed_anywhere_is_done_or_can_be_asked_for_again(process, toa_clock):
    subjects = []

    def prepare():
        subject = process(a=toa_clock.now, mode="broken")
        subjects.append(subject)
        toa_clock.run_until_idle()
        Claim.objects.filter(id=subject).update(mode=None)
        failure = Failure.objects.get().id
        return lambda: retry(failure, by="ann")

    for place in everywhere(prepare):
        for failure in Failure.objects.all():
            retry(failure.id, by="ann")
        toa_clock.run_until_idle()
        row = Claim.objects.get(id=subjects[-1])
        assert (row.log, row.clock_state) == (["a"], None), place


def test_T16_a_discard_killed_anywhere_is_done_or_can_be_asked_for_again(process, toa_clock):
    subjects = []

    def prepare():
        subject = process(a=toa_clock.now, b=toa_clock.now + 1, mode="broken")
        subjects.append(subject)
        toa_clock.run_until_idle()
        failure = Failure.objects.get().id
        return lambda: discard(failure, by="ann")

    for place in everywhere(prepare):
        for failure in Failure.objects.all():
            discard(failure.id, by="ann")
        toa_clock.advance(1_000)
        row = Claim.objects.get(id=subjects[-1])
        assert (row.log, row.clock_state) == ([], "discarded"), place
        assert not Failure.objects.exists(), place


@pytest.mark.parametrize("mode", [None, "flaky", "past"])
def test_T17_a_deadline_killed_anywhere_is_reached_once(process, toa_clock, mode):
    subjects = []

    def prepare():
        at_a.TRIES.clear()
        subjects.append(process(a=toa_clock.now, mode=mode))
        return lambda: reach(claims(), subjects[-1])

    for place in everywhere(prepare):
        toa_clock.advance("2m")
        row = Claim.objects.get(id=subjects[-1])
        assert row.log == (["a", "b"] if mode == "past" else ["a"]), place
        assert len(set(at_a.TRIES)) == 1, f"{place}: one key"
        assert (row.clock_state, row.held_at, row.clock, row.a) == (None, None, None, None), place
    assert not Failure.objects.exists()


def test_T18_a_round_killed_anywhere_is_made_once_for_each_of_its_instances(toa_clock, settings):
    settings.TOA = {**django_settings.TOA, "SETWISE": True}
    subjects = []

    def prepare():
        moment = toa_clock.now - 1
        subjects[:] = [uuid7().hex for _ in range(3)]
        given = ({"a": moment, "b": moment + 1}, {"chain": moment}, {"a": moment, "mode": "broken"})
        for identity, values in zip(subjects, given, strict=True):
            toa.call(f"{CLAIMS}.set", values, id=identity)
        return lambda: DEADLINES.step(500, Collected())

    places = 0
    for place in everywhere(prepare):
        places += 1
        toa_clock.run_until_idle()
        rows = [Claim.objects.get(id=identity) for identity in subjects]
        assert [row.log for row in rows] == [["set", "a", "b"], ["set", toa_clock.now - 1], ["set"]], place
        assert [row.clock_state for row in rows] == [None, None, "failed"], place
        assert all((row.held_at, row.clock) == (None, None) for row in rows), place
        for identity, outcomes in zip(subjects, (["made"] * 2, ["made"], ["failed"]), strict=True):
            lines = History.objects.filter(entity=f"{CLAIMS}:{identity}", source="deadline")
            assert list(lines.values_list("outcome", flat=True)) == outcomes, place
            reached = Revision.objects.filter(component=CLAIMS, entity=identity).exclude(reached="")
            assert reached.count() == outcomes.count("made"), place
    assert places >= 30
    assert Failure.objects.count() == places + 1, "once in each place, and where it got through"


def test_T7_a_failure_killed_anywhere_is_recorded_once(process, toa_clock):
    subjects = []

    def prepare():
        subjects.append(process(a=toa_clock.now, mode="broken"))
        return lambda: reach(claims(), subjects[-1])

    for place in everywhere(prepare):
        toa_clock.run_until_idle()
        (failure,) = Failure.objects.filter(entity=f"{CLAIMS}:{subjects[-1]}")
        assert Claim.objects.get(id=subjects[-1]).clock_state == "failed", place
        assert History.objects.filter(call=failure.call, outcome="failed").count() == 1, place
