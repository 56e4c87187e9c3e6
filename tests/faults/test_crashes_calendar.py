"""A crash before and after every statement of pulses and schedules: each boundary and occurrence is accounted for once.

Made exactly once in the database, called again under the same key outside, and never lost without a line that says so.
"""

import pytest

import toa
from tests.cadence.calendar import HOUR, MINUTE, NOTE, SECOND, STAMP
from tests.components.almanacs.models import Almanac
from tests.components.almanacs.operations import note
from tests.components.beacons.models import Beacon
from tests.components.beacons.operations import ping
from toa.cadence.actions import operating
from toa.cadence.passes import Collected, perform
from toa.cadence.pulses.due import PULSES
from toa.cadence.schedules.due import SCHEDULES
from toa.core.clock import to_datetime, to_moment
from toa.models import Failure, History, Pulse, Schedule, ScheduledCall
from toa.testing.crashes import everywhere

pytestmark = pytest.mark.django_db(transaction=True)

# Each third place, or every one.
shares = pytest.mark.parametrize(
    "every", [pytest.param(3, id="quick"), pytest.param(1, id="full", marks=pytest.mark.slow)]
)

PING, LAPSE = "components.beacons.ping", "components.beacons.lapse"


def turn(source):
    """What workers do about one source: a step, and the calls that it hints at."""

    def act():
        hints = Collected()
        source.step(100, hints)
        for hint in hints.hints:
            perform(hint, renew=False)

    return act


def to_the_hour(clock):
    """Put the clock to the next full hour without running anything."""
    clock.set((clock.now // HOUR + 1) * HOUR)


@pytest.fixture
def pulse(toa_clock):
    """The two pulses of the test component, hourly and every two hours; the others rest."""
    ping.CALLS.clear()
    ping.DURING.clear()
    Pulse.objects.exclude(endpoint__in=[PING, LAPSE]).update(wake_at=None, paused_at=to_datetime(toa_clock.now))
    Schedule.objects.update(wake_at=None)


def boundary_lines(endpoint, moment):
    """The lines of history that account for one boundary."""
    lines = []
    for line in History.objects.filter(endpoint=endpoint, source="pulse"):
        first = to_moment(line.due_at)
        if first <= moment <= (line.cause or {}).get("last", first):
            lines.append(line.outcome)
    return lines


@shares
def test_P9_kill_anywhere_while_a_pulse_is_called_and_its_boundary_is_accounted_for_once(toa_clock, pulse, every):
    Pulse.objects.filter(endpoint=LAPSE).update(wake_at=None, paused_at=to_datetime(toa_clock.now))
    outcomes = set()

    def prepare():
        to_the_hour(toa_clock)
        return turn(PULSES)

    for place in everywhere(prepare, every=every):
        boundary = toa_clock.now
        toa_clock.advance(2 * MINUTE)
        assert sum(call["due"] == boundary for call in ping.CALLS) <= 1, place
        accounted = boundary_lines(PING, boundary)
        assert len(accounted) == 1, f"{place}: {accounted}"
        outcomes.add(accounted[0])
        to_the_hour(toa_clock)
        toa_clock.run_until_idle()
        assert ping.CALLS[-1]["due"] == toa_clock.now, f"{place}: the next boundary is called"
    assert {"made", "lapsed"} <= outcomes <= {"made", "lapsed", "missed"}


@shares
def test_P9_kill_anywhere_while_a_sweep_runs_and_each_object_changes_once(toa_clock, pulse, every):
    Pulse.objects.filter(endpoint=PING).update(wake_at=None, paused_at=to_datetime(toa_clock.now))

    def prepare():
        Beacon.objects.all().delete()
        toa_clock.set((toa_clock.now // (2 * HOUR) + 1) * 2 * HOUR)
        for offset in (1, 2):
            toa.call("components.beacons.create", {"until": toa_clock.now - offset})
        return turn(PULSES)

    for place in everywhere(prepare, every=every):
        toa_clock.advance(2 * HOUR)
        rows = Beacon.objects.values_list("open", "seen", "version")
        assert set(rows) == {(False, 1, 2)}, place


@shares
def test_kill_anywhere_while_a_scheduled_effect_runs_and_it_comes_again_with_the_same_key(calendar, toa_clock, every):
    calendar.declare(schedule="0 * * * *")
    repeated = 0

    def prepare():
        to_the_hour(toa_clock)
        return turn(SCHEDULES)

    for place in everywhere(prepare, every=every):
        occurrence = toa_clock.now
        toa_clock.advance(2 * MINUTE)
        keys = [call["key"] for call in note.CALLS if call["at"] == occurrence]
        assert len(keys) in (1, 2), place
        assert len(set(keys)) == 1, place
        repeated += len(keys) == 2
        made = History.objects.filter(outcome="made", due_at=to_datetime(occurrence), endpoint=NOTE)
        assert made.count() == 1, place
    assert repeated > 0
    assert (ScheduledCall.objects.count(), Failure.objects.count()) == (0, 0)


@shares
def test_kill_anywhere_while_a_scheduled_sweep_is_made_and_each_object_changes_once(calendar, toa_clock, every):
    calendar.declare(endpoint=STAMP, schedule="0 * * * *")

    def prepare():
        Almanac.objects.all().delete()
        to_the_hour(toa_clock)
        # The first of these stays open: only the settlement of its call keeps it from being stamped again.
        for offset in (979, 2):
            toa.call("components.almanacs.create", {"until": toa_clock.now - offset})
        return turn(SCHEDULES)

    for place in everywhere(prepare, every=every):
        occurrence = toa_clock.now
        toa_clock.advance(2 * MINUTE)
        assert set(Almanac.objects.values_list("seen", "version")) == {(2, 2)}, place
        lines = History.objects.filter(source="schedule", due_at=to_datetime(occurrence))
        assert sorted(lines.values_list("outcome", "code")) == [("made", ""), ("made", ""), ("made", "2 found")], place


@shares
def test_kill_anywhere_while_an_edit_is_synced_and_it_is_there_or_not(calendar, toa_clock, every):
    declared = [{"schedule": "0 * * * *"}, {"schedule": "30 * * * *"}]
    seen = set()

    def prepare():
        calendar.declare(**declared[0])
        to_the_hour(toa_clock)
        toa_clock.set(toa_clock.now + 5 * SECOND)
        History.objects.all().delete()
        return lambda: calendar.declare(**declared[1])

    for place in everywhere(prepare, every=every):
        edited = calendar.row().expression == declared[1]["schedule"]
        dropped = History.objects.filter(outcome="cancelled").count()
        assert dropped == edited, place
        seen.add(edited)
        before = len(note.CALLS)
        toa_clock.advance(40 * MINUTE)
        assert len(note.CALLS) == before + 1, place
    assert True in seen or every > 1
    assert False in seen


@pytest.mark.parametrize("what", ["pause", "resume", "fire"])
@pytest.mark.parametrize("kind", [Pulse, Schedule])
def test_kill_anywhere_while_somebody_acts_and_it_was_done_or_not(calendar, toa_clock, what, kind):
    calendar.declare(schedule="0 * * * *")

    def row():
        return kind.objects.get(endpoint=PING if kind is Pulse else NOTE)

    def prepare():
        operating.resume(row(), "anna")
        toa_clock.advance(MINUTE)
        if what == "resume":
            operating.pause(row(), "anna")
            to_the_hour(toa_clock)
        History.objects.all().delete()
        return lambda: getattr(operating, what)(row(), "ben")

    done = []
    for place in everywhere(prepare):
        match what:
            case "fire" if kind is Pulse:
                done.append(row().fire_at is not None)
            case "fire":
                done.append(ScheduledCall.objects.exists())
            case "resume":
                done.append(row().paused_at is None)
                assert History.objects.filter(outcome="skipped").count() == done[-1], place
            case _:
                done.append(row().paused_at is not None)
        toa_clock.run_until_idle()
    assert set(done) == {True, False}
