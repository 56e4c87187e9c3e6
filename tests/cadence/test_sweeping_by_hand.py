"""A pulse's call made by hand runs under the pulse's own lease: never beside it, and its grid goes on."""

import pytest

import toa
from tests.cadence.calendar import NOTE
from tests.components.almanacs.operations import note
from tests.components.beacons.models import Beacon
from tests.components.beacons.operations import ping
from toa.cadence.actions.sweeping_by_hand import find_sweep, rounds
from toa.cadence.passes import Collected, perform, run_pass
from toa.core.clock import to_datetime, to_moment
from toa.exceptions import Conflict, NotFound, Refused
from toa.models import Failure, History, Outcome, Pulse, Schedule, ScheduledCall

pytestmark = pytest.mark.django_db

PING, LAPSE = "components.beacons.ping", "components.beacons.lapse"
HOUR = 3_600_000


@pytest.fixture(autouse=True)
def quiet(toa_clock):
    """The pulses of other components do not come due."""
    ping.CALLS.clear()
    ping.DURING.clear()
    Pulse.objects.exclude(endpoint__in=(PING, LAPSE)).update(wake_at=None, paused_at=to_datetime(toa_clock.now))


def once(endpoint, **options):
    (reply,) = rounds(find_sweep(endpoint), "anna", **options)
    return reply


def lines(endpoint):
    rows = History.objects.filter(source="pulse", endpoint=endpoint).order_by("id")
    return [(line.outcome, line.code) for line in rows]


def pulse(endpoint):
    return Pulse.objects.get(endpoint=endpoint)


def test_the_grid_goes_on_as_if_nothing_had_been_and_the_history_says_who_asked(toa_clock):
    for offset in (10, 20, 30, 40):
        toa.call("components.beacons.create", {"until": toa_clock.now - HOUR + offset})
    before = pulse(LAPSE)
    assert once(LAPSE) == {"made": 3, "refused": 0, "failed": 0, "passed": 0}
    after = pulse(LAPSE)
    assert (after.cursor, after.wake_at, after.token, after.fire_at) == (before.cursor, before.wake_at, None, None)
    line = History.objects.get(source="pulse")
    assert (line.outcome, line.code, line.cause["asked_by"]) == ("made", "3 made", "anna")
    assert to_moment(line.due_at) == toa_clock.now


def test_a_limit_holds_for_the_round_and_not_for_the_pulse():
    for offset in range(5):
        toa.call("components.beacons.create", {"until": offset})
    assert once(LAPSE, limit=1)["made"] == 1
    assert pulse(LAPSE).query["limit"] == 3
    assert Beacon.objects.filter(open=False).count() == 1


def test_an_effect_gets_what_its_grid_would_send(toa_clock):
    toa_clock.set(toa_clock.now + 1234)
    once(PING)
    (call,) = ping.CALLS
    assert (call["n"], call["i"], call["due"]) == (24, 12, toa_clock.now)
    toa_clock.advance(HOUR)
    assert [one["due"] for one in ping.CALLS[1:]] == [toa_clock.now - 1234]


def test_it_never_runs_beside_the_pulse(toa_clock):
    toa_clock.set(toa_clock.now + HOUR)
    hints, refused = Collected(), []
    run_pass(hints)

    def meanwhile():
        with pytest.raises(Conflict, match="two never run side by side"):
            once(PING)
        refused.append(True)

    ping.DURING.append(meanwhile)
    for hint in hints.hints:
        perform(hint, renew=False)
    assert (len(ping.CALLS), refused) == (1, [True])
    assert lines(PING) == [("made", "")]


def test_the_pulse_never_runs_beside_it_and_what_passed_is_recorded(toa_clock):
    def meanwhile():
        # Its lease is renewed while it runs.
        Pulse.objects.filter(endpoint=PING).update(wake_at=to_datetime(toa_clock.now + 3 * HOUR))
        toa_clock.set(toa_clock.now + 2 * HOUR + 60_000)
        toa_clock.run_until_idle()

    ping.DURING.append(meanwhile)
    once(PING)
    assert len(ping.CALLS) == 1
    assert [outcome for outcome, _ in lines(PING)] == ["made", "skipped"]
    assert History.objects.get(outcome=Outcome.SKIPPED).count == 2
    toa_clock.advance(HOUR)
    assert len(ping.CALLS) == 2


def test_one_that_was_asked_for_already_is_left_to_who_runs_it(toa_clock):
    Pulse.objects.filter(endpoint=PING).update(fire_at=to_datetime(toa_clock.now))
    with pytest.raises(Conflict):
        once(PING)
    assert ping.CALLS == []


def test_it_takes_over_from_a_process_that_died(toa_clock):
    toa_clock.set(toa_clock.now + HOUR)
    hints = Collected()
    run_pass(hints)

    def die():
        raise KeyboardInterrupt

    ping.DURING.append(die)
    with pytest.raises(KeyboardInterrupt):
        perform(hints.hints[0], renew=False)
    with pytest.raises(Conflict):
        once(PING)
    toa_clock.set(toa_clock.now + 31_000)
    once(PING)
    assert [outcome for outcome, _ in lines(PING)] == ["lapsed", "made"]


def test_a_paused_pulse_can_be_swept_by_hand_and_stays_paused(toa_clock):
    Pulse.objects.filter(endpoint=PING).update(wake_at=None, paused_at=to_datetime(toa_clock.now))
    once(PING)
    assert (len(ping.CALLS), pulse(PING).wake_at) == (1, None)


@pytest.mark.parametrize(
    ("outcome", "error", "line"),
    [
        ("tired", Refused, ("refused", "TIRED")),
        ("raise", ZeroDivisionError, ("failed", "ZeroDivisionError: division by zero")),
    ],
)
def test_what_is_refused_or_fails_is_told_and_recorded(toa_clock, outcome, error, line):
    ping.DURING.append(lambda: 1 / 0 if outcome == "raise" else outcome)
    with pytest.raises(error):
        once(PING, until_dry=True)
    assert (lines(PING), len(ping.CALLS), pulse(PING).token) == ([line], 1, None)


def test_a_pulse_without_a_row_is_refused_with_what_to_run():
    Pulse.objects.filter(endpoint=PING).delete()
    with pytest.raises(NotFound, match="toa sync"):
        once(PING)


def test_an_effect_on_a_schedule_never_runs_beside_another_of_its_calls(calendar, toa_clock):
    calendar.declare(schedule="0 * * * *")
    refused = []

    def meanwhile():
        with pytest.raises(Conflict, match="two never run side by side"):
            once(NOTE)
        refused.append(True)
        toa_clock.set(toa_clock.now + HOUR)
        ScheduledCall.objects.update(wake_at=to_datetime(toa_clock.now + 30_000))  # its lease is renewed
        toa_clock.run_until_idle()

    note.DURING.append(meanwhile)
    once(NOTE)
    assert (len(note.CALLS), refused) == (1, [True])
    rows = History.objects.filter(source="schedule").order_by("id")
    assert [(line.outcome, (line.cause or {}).get("asked_by")) for line in rows] == [
        ("skipped", None),
        ("made", "anna"),
    ]
    assert ScheduledCall.objects.count() == 0
    toa_clock.advance(HOUR)
    assert len(note.CALLS) == 2, "its calendar goes on"


def test_an_effect_on_a_schedule_that_fails_is_a_failure_as_any_of_its_calls(calendar, toa_clock):
    calendar.declare(schedule="0 * * * *")
    note.DURING.append(lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        once(NOTE)
    assert (Failure.objects.get().source, ScheduledCall.objects.count()) == ("schedule", 0)


def test_a_schedule_without_a_row_is_refused_with_what_to_run(calendar):
    calendar.declare(schedule="0 * * * *")
    Schedule.objects.filter(endpoint=NOTE).delete()
    with pytest.raises(NotFound, match="toa sync"):
        once(NOTE)
