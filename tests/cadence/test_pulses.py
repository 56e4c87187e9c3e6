"""Pulses: one call for each boundary of the grid, and a line for each that was not called."""

import pytest

import toa
from tests.components.beacons.models import Beacon
from tests.components.beacons.operations import ping
from toa.cadence.passes import Collected, perform, run_pass
from toa.cadence.syncing import sync
from toa.core.clock import to_datetime, to_moment
from toa.models import History, Pulse

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("only_ping")]

PING = "components.beacons.ping"
LAPSE = "components.beacons.lapse"
MINUTE, HOUR = 60_000, 3_600_000


def history():
    """The lines of history as the facts that matter, in order."""
    rows = History.objects.order_by("id").values_list("outcome", "count", "lateness_ms")
    return list(rows)


def pulse():
    return Pulse.objects.get(endpoint=PING)


def test_P1_a_day_has_24_calls_at_the_top_of_each_hour(toa_clock):
    toa_clock.set(toa_clock.now - toa_clock.now % (24 * HOUR) + 24 * HOUR - 1)
    Pulse.objects.update(cursor=toa_clock.now // HOUR)
    start = toa_clock.now + 1
    toa_clock.advance(24 * HOUR)
    assert [(call["i"], call["due"], call["n"]) for call in ping.CALLS] == [
        (hour, start + hour * HOUR, 24) for hour in range(24)
    ]
    assert history() == [("made", 1, 0)] * 24


def test_P2_the_first_call_is_at_the_next_boundary(toa_clock):
    Pulse.objects.filter(endpoint=PING).delete()
    toa_clock.set(toa_clock.now + 20 * MINUTE)
    sync()
    toa_clock.run_until_idle()
    assert ping.CALLS == []
    toa_clock.advance(40 * MINUTE)
    assert len(ping.CALLS) == 1


@pytest.mark.parametrize(("late", "calls", "missed", "lateness"), [(10_000, 1, 4, 10_000), (3 * MINUTE, 0, 5, None)])
def test_P3_an_outage_over_five_boundaries(toa_clock, late, calls, missed, lateness):
    toa_clock.set(toa_clock.now + 5 * HOUR + late)
    toa_clock.run_until_idle()
    assert len(ping.CALLS) == calls
    lines = history()
    assert lines[0][:2] == ("missed", missed)
    assert lines[1:] == ([("made", 1, lateness)] if calls else [])
    toa_clock.advance(HOUR)
    assert len(ping.CALLS) == calls + 1, "the boundary after the outage is called as usual"


def test_P4_a_call_that_still_runs_at_the_boundary_skips_it(toa_clock):
    ping.DURING.append(lambda: toa_clock.set(toa_clock.now + 2 * HOUR + 5 * MINUTE))
    toa_clock.advance(HOUR)
    assert history() == [("made", 1, 0), ("skipped", 2, 2 * HOUR - HOUR + 5 * MINUTE)]
    assert len(ping.CALLS) == 1
    toa_clock.advance(HOUR)
    assert len(ping.CALLS) == 2


def test_P5_a_call_that_raises_is_recorded_and_the_next_boundary_is_normal(toa_clock):
    ping.DURING.append(lambda: 1 / 0)
    toa_clock.advance(2 * HOUR)
    first, second = History.objects.order_by("id")
    assert (first.outcome, first.code) == ("failed", "ZeroDivisionError: division by zero")
    assert second.outcome == "made"


def test_a_call_that_replies_with_an_error_is_refused(toa_clock):
    ping.DURING.append(lambda: "tired")
    toa_clock.advance(HOUR)
    line = History.objects.get()
    assert (line.outcome, line.code) == ("refused", "TIRED")


def test_P8_a_paused_pulse_is_not_called(toa_clock):
    Pulse.objects.update(wake_at=None, paused_at=to_datetime(toa_clock.now))
    toa_clock.advance(5 * HOUR)
    assert (ping.CALLS, history()) == ([], [])


def test_P9_a_killed_worker_and_the_pulse_goes_on_at_the_next_boundary(toa_clock):
    hints = Collected()
    toa_clock.set(toa_clock.now + HOUR)
    run_pass(hints)

    def die():
        raise KeyboardInterrupt

    ping.DURING.append(die)
    with pytest.raises(KeyboardInterrupt):
        perform(hints.hints[0], renew=False)
    assert pulse().token is not None
    toa_clock.advance(29_000)
    assert history() == []
    toa_clock.advance(1000)
    assert [line[0] for line in history()] == ["lapsed"]
    toa_clock.advance(HOUR)
    assert len(ping.CALLS) == 2
    assert [line[0] for line in history()] == ["lapsed", "made"]


def test_P9_what_comes_back_after_its_lease_settles_nothing(toa_clock):
    def freeze():
        toa_clock.set(toa_clock.now + 31_000)
        toa_clock.run_until_idle()

    ping.DURING.append(freeze)
    toa_clock.advance(HOUR)
    assert [line[0] for line in history()] == ["lapsed"]
    assert pulse().token is None


def test_P12_the_settings_of_an_environment_change_the_grid(toa_clock, settings):
    settings.TOA = {**settings.TOA, "CADENCE": {PING: 1800}}
    assert sync().pulses == 1
    assert (pulse().cycle_ms, pulse().intervals, pulse().overridden) == (1_800_000, 24, True)


def test_a_sync_without_a_change_moves_nothing(toa_clock):
    before = list(Pulse.objects.values())
    toa_clock.set(toa_clock.now + 17 * MINUTE)
    sync()
    done = sync()
    assert (done.components, done.pulses, done.retired) == (0, 0, 0)
    assert list(Pulse.objects.values()) == before


def test_P10_a_changed_grid_holds_from_then_on(toa_clock, settings):
    toa_clock.advance(HOUR)
    settings.TOA = {**settings.TOA, "CADENCE": {PING: {"cycle": 3600, "intervals": 4}}}
    sync()
    toa_clock.advance(HOUR)
    assert [call["due"] % HOUR for call in ping.CALLS] == [0, 15 * MINUTE, 30 * MINUTE, 45 * MINUTE, 0]
    assert len({call["due"] for call in ping.CALLS}) == 5


def test_a_declared_sweep_calls_each_object_that_is_due_oldest_first(toa_clock):
    now = toa_clock.now
    ids = [toa.call("components.beacons.create", {"until": now + offset})["id"] for offset in (50, 10, 30, 20, 40)]
    later = toa.call("components.beacons.create", {"until": now + 99 * HOUR})["id"]
    Pulse.objects.filter(endpoint=LAPSE).update(
        paused_at=None, wake_at=to_datetime(now + 2 * HOUR), cursor=now // HOUR // 2
    )
    toa_clock.advance(2 * HOUR)
    closed = {row.id.hex for row in Beacon.objects.filter(open=False)}
    assert closed == {ids[1], ids[3], ids[2]}, "bounded at three, oldest first"
    toa_clock.advance(2 * HOUR)
    assert {row.id.hex for row in Beacon.objects.filter(open=True)} == {later}
    assert set(Beacon.objects.filter(open=False).values_list("seen", "version")) == {(1, 2)}


def test_a_sweep_goes_on_past_an_object_that_fails(toa_clock):
    now = toa_clock.now - toa_clock.now % 1000
    for offset in (7, 13, 20):
        toa.call("components.beacons.create", {"until": now + offset})
    Pulse.objects.filter(endpoint=LAPSE).update(
        paused_at=None, wake_at=to_datetime(now + 2 * HOUR), cursor=now // HOUR // 2
    )
    toa_clock.advance(2 * HOUR)
    assert [to_moment(row.until) % 1000 for row in Beacon.objects.filter(open=False)] == [20]
    line = History.objects.get(endpoint=LAPSE)
    assert (line.outcome, line.code) == ("made", "1 made, 1 refused, 1 failed")
