"""People and pulses: pause, resume, fire; what is recorded; many processes at once."""

import pytest

from tests.cadence.conftest import NODES
from tests.components.beacons.operations import ping
from toa.cadence.actions import operating
from toa.cadence.passes import Collected, perform, run_pass
from toa.cadence.pulses.due import PULSES
from toa.cadence.syncing import sync
from toa.core.clock import to_datetime, to_moment
from toa.models import History, Pulse

pytestmark = pytest.mark.usefixtures("only_ping")

PING = "components.beacons.ping"
MINUTE, HOUR = 60_000, 3_600_000


def pulse():
    return Pulse.objects.get(endpoint=PING)


def lines():
    return list(History.objects.filter(source="pulse").order_by("id").values_list("outcome", "count", "code"))


@pytest.mark.django_db
class TestPausing:
    def test_a_name_of_any_length_is_recorded_as_far_as_there_is_room(self, toa_clock):
        name = "n" * 254
        assert operating.pause(pulse(), name) == "paused"
        assert operating.fire(pulse(), name) == "fired"
        assert (pulse().paused_by, pulse().fire_by) == (name[:150], name[:150])

    def test_P8_a_paused_pulse_is_not_called_and_resumed_the_next_boundary_is(self, toa_clock):
        assert operating.pause(pulse(), "anna") == "paused"
        assert operating.pause(pulse(), "ben") == "already paused"
        toa_clock.advance(5 * HOUR + MINUTE)
        assert (ping.CALLS, lines()) == ([], [])
        assert operating.resume(pulse(), "ben") == "resumed"
        assert operating.resume(pulse(), "ben") == "not paused"
        toa_clock.run_until_idle()
        assert ping.CALLS == []
        assert lines() == [
            ("skipped", 5, "paused by anna: 5 from 2026-01-05 13:00:00 to 2026-01-05 17:00:00"),
        ]
        toa_clock.advance(59 * MINUTE)
        assert len(ping.CALLS) == 1

    def test_what_is_due_when_it_is_paused_is_not_called(self, toa_clock):
        toa_clock.set(toa_clock.now + HOUR)
        operating.pause(pulse(), "anna")
        toa_clock.run_until_idle()
        assert ping.CALLS == []
        assert lines() == [("skipped", 1, "paused by anna: 2026-01-05 13:00:00")]

    def test_paused_while_its_call_runs_it_finishes_and_rests(self, toa_clock):
        ping.DURING.append(lambda: operating.pause(pulse(), "anna"))
        toa_clock.advance(3 * HOUR)
        assert lines() == [("made", 1, "")]
        assert pulse().wake_at is None

    def test_paused_with_a_call_whose_process_died_it_rests_after_the_lapse(self, toa_clock):
        toa_clock.set(toa_clock.now + HOUR)
        hints = Collected()
        run_pass(hints)

        def die():
            operating.pause(pulse(), "anna")
            raise KeyboardInterrupt

        ping.DURING.append(die)
        with pytest.raises(KeyboardInterrupt):
            perform(hints.hints[0], renew=False)
        toa_clock.advance(3 * HOUR)
        assert [line[0] for line in lines()] == ["lapsed"]
        assert (len(ping.CALLS), pulse().wake_at) == (1, None)

    def test_a_sync_leaves_a_paused_pulse_paused(self, toa_clock, settings):
        operating.pause(pulse(), "anna")
        settings.TOA = {**settings.TOA, "CADENCE": {PING: 1800}}
        sync()
        assert (pulse().wake_at, pulse().paused_by) == (None, "anna")


@pytest.mark.django_db
class TestFiring:
    def test_fired_by_hand_it_is_called_now_and_its_grid_goes_on(self, toa_clock):
        toa_clock.advance(HOUR + MINUTE)
        assert operating.fire(pulse(), "anna") == "fired"
        assert operating.fire(pulse(), "ben") == "already asked for"
        toa_clock.run_until_idle()
        first, second = ping.CALLS
        assert (second["due"], second["i"]) == (toa_clock.now, first["i"])
        assert first["key"] != second["key"]
        line = History.objects.order_by("id").last()
        assert (line.outcome, line.cause["asked_by"], line.lateness_ms) == ("made", "anna", 0)
        toa_clock.advance(59 * MINUTE)
        assert [call["due"] for call in ping.CALLS[2:]] == [toa_clock.now]
        assert "asked_by" not in History.objects.order_by("id").last().cause

    def test_not_while_its_call_runs(self, toa_clock):
        answers = []
        ping.DURING.append(lambda: answers.append(operating.fire(pulse(), "anna")))
        toa_clock.advance(HOUR)
        assert answers == ["being made"]
        assert len(ping.CALLS) == 1

    def test_a_paused_one_is_called_once_and_stays_paused(self, toa_clock):
        operating.pause(pulse(), "anna")
        operating.fire(pulse(), "anna")
        toa_clock.advance(3 * HOUR)
        assert len(ping.CALLS) == 1
        assert pulse().paused_at is not None

    def test_a_retired_one_is_left_alone(self, toa_clock, settings):
        settings.TOA = {**settings.TOA, "CADENCE": {PING: None}}
        assert sync().retired == 1
        acts = (operating.pause, operating.resume, operating.fire)
        assert [act(pulse(), "anna") for act in acts] == ["retired"] * 3
        toa_clock.advance(3 * HOUR)
        assert ping.CALLS == []


@pytest.mark.django_db
def test_P3_the_line_of_missed_boundaries_says_which_and_why(toa_clock):
    toa_clock.set(toa_clock.now + 5 * HOUR + 3 * MINUTE)
    toa_clock.run_until_idle()
    assert lines() == [
        ("missed", 5, "nobody called them in time: 5 from 2026-01-05 13:00:00 to 2026-01-05 17:00:00"),
    ]
    cause = History.objects.get().cause
    assert (cause["first"], cause["last"]) == (toa_clock.now - 4 * HOUR - 3 * MINUTE, toa_clock.now - 3 * MINUTE)


@pytest.mark.django_db
def test_P10_boundaries_that_a_change_finds_due_are_recorded(toa_clock, settings):
    toa_clock.set(toa_clock.now + 2 * HOUR + MINUTE)
    settings.TOA = {**settings.TOA, "CADENCE": {PING: {"cycle": 3600, "intervals": 4}}}
    sync()
    assert lines() == [("missed", 2, "the pulse was changed: 2 from 2026-01-05 13:00:00 to 2026-01-05 14:00:00")]
    toa_clock.advance(14 * MINUTE)
    assert [call["due"] for call in ping.CALLS] == [toa_clock.now]


@pytest.mark.django_db(transaction=True)
class TestTogether:
    """Real threads with connections of their own, as processes have."""

    @staticmethod
    def turn(_):
        """What a worker does about pulses: a step, and the calls that it is told of."""
        hints = Collected()
        PULSES.step(100, hints)
        for hint in hints.hints:
            perform(hint)

    def test_P6_ten_workers_and_100_boundaries_are_100_calls(self, toa_clock, nodes):
        start = toa_clock.now
        for boundary in range(1, 101):
            toa_clock.set(start + boundary * HOUR)
            list(nodes.map(self.turn, range(NODES)))
            # A hint that came while another node held the row is lost, which costs a second.
            toa_clock.set(start + boundary * HOUR + 1000)
            self.turn(boundary)
        assert [call["due"] for call in ping.CALLS] == [start + number * HOUR for number in range(1, 101)]
        assert History.objects.filter(outcome="made").count() == 100

    def test_P4_a_call_that_runs_in_another_process_skips_the_boundary(self, toa_clock, nodes):
        def meanwhile():
            Pulse.objects.filter(endpoint=PING).update(wake_at=to_datetime(toa_clock.now + 10 * HOUR))
            toa_clock.set(toa_clock.now + HOUR + MINUTE)
            nodes.submit(self.turn, 0).result()

        ping.DURING.append(meanwhile)
        toa_clock.advance(HOUR)
        assert len(ping.CALLS) == 1
        assert [(outcome, count) for outcome, count, _ in lines()] == [("made", 1), ("skipped", 1)]

    def test_two_people_pause_at_once_and_one_of_them_did(self, toa_clock, nodes):
        answers = list(nodes.map(lambda by: operating.pause(pulse(), by), ["anna", "ben"]))
        assert sorted(answers) == ["already paused", "paused"]
        assert pulse().paused_by == ["anna", "ben"][answers.index("paused")]
        assert to_moment(pulse().paused_at) == toa_clock.now
