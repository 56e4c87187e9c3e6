"""Edits, pauses, removal and return of schedules: what was owed is dropped and recorded, nothing is called twice."""

import random
from itertools import pairwise

import pytest

from tests.cadence.calendar import DAY, HOUR, MINUTE, NOTE, SECOND, STAMP
from tests.components.almanacs.operations import note
from toa.cadence.actions import operating
from toa.cadence.passes import Collected, perform, run_pass
from toa.cadence.syncing import sync
from toa.core.clock import to_datetime, to_moment
from toa.models import History, Pulse, Schedule, ScheduledCall

pytestmark = pytest.mark.django_db


def called():
    return [call["at"] for call in note.CALLS]


def reasons():
    return list(
        History.objects.filter(source="schedule").exclude(outcome="made").order_by("id").values_list("outcome", "code")
    )


def test_a_sync_without_a_change_moves_nothing(calendar, toa_clock):
    calendar.declare(schedule="0 * * * *", zone="Europe/Berlin", jitter=60)
    toa_clock.set(toa_clock.now + 17 * MINUTE)
    before = list(Schedule.objects.values())
    done = sync()
    assert (done.schedules, done.retired) == (0, 0)
    assert list(Schedule.objects.values()) == before


def test_a_sync_does_not_touch_what_is_due(calendar, toa_clock):
    calendar.declare(schedule="0 * * * *")
    start = toa_clock.now
    toa_clock.set(start + 2 * HOUR + 5 * SECOND)
    assert calendar.declare(schedule="0 * * * *").schedules == 0
    toa_clock.run_until_idle()
    assert [(call["at"], call["missed"]) for call in note.CALLS] == [(start + HOUR, 2)]


def test_a_schedule_is_first_called_at_its_first_occurrence_after_it_was_stored(calendar, toa_clock):
    calendar.declare(schedule="0 12 * * *")
    toa_clock.run_until_idle()
    assert called() == [], "12:00, at which it was stored, is over"
    toa_clock.advance(DAY)
    assert called() == [toa_clock.now]


@pytest.mark.parametrize(
    "edit",
    [
        {"schedule": "30 * * * *"},
        {"zone": "Asia/Kolkata"},
        {"gap": "shift"},
        {"overdue": 60},
        {"catch_up": "each"},
        {"overlap": "buffer"},
        {"jitter": 600},
    ],
)
def test_S12_an_edit_drops_what_is_owed_and_calls_nothing_at_once(calendar, toa_clock, edit):
    declared = {"schedule": "0 * * * *", "zone": "UTC"}
    calendar.declare(**declared)
    start = toa_clock.now
    toa_clock.set(start + 3 * HOUR + MINUTE)
    calendar.declare(**{**declared, **edit})
    toa_clock.run_until_idle()
    assert called() == []
    assert calendar.history() == [("cancelled", start + HOUR, 3)]
    ((_, code),) = reasons()
    assert code == "the schedule was changed: 3 from 2026-01-05 13:00:00 to 2026-01-05 15:00:00"
    following = calendar.next()
    assert following > toa_clock.now
    toa_clock.advance_to(to_moment(calendar.row().wake_at))
    assert called() == [following]


def test_S12_an_edit_drops_a_stored_call_that_has_not_begun(calendar, toa_clock):
    calendar.declare(schedule="0 * * * *")
    toa_clock.set(toa_clock.now + HOUR)
    run_pass(Collected())
    assert ScheduledCall.objects.count() == 1
    calendar.declare(schedule="30 * * * *")
    toa_clock.advance(29 * MINUTE)
    assert called() == []
    assert reasons() == [("cancelled", "the schedule was changed")]
    toa_clock.advance(MINUTE)
    assert len(called()) == 1


def test_an_edit_lets_a_running_call_finish(calendar, toa_clock):
    calendar.declare(schedule="0 * * * *")
    note.DURING.append(lambda: calendar.declare(schedule="30 * * * *"))
    toa_clock.advance(HOUR)
    assert [outcome for outcome, _, _ in calendar.history()] == ["made"]
    toa_clock.advance(30 * MINUTE)
    assert len(called()) == 2


def test_S12_a_removed_schedule_is_called_no_more_and_its_cursor_survives_its_return(calendar, toa_clock):
    calendar.declare(schedule="0 * * * *")
    first = calendar.row().id
    toa_clock.advance(HOUR)
    toa_clock.set(toa_clock.now + HOUR + MINUTE)
    assert calendar.declare().retired == 1
    toa_clock.advance(5 * HOUR)
    assert len(called()) == 1
    assert [outcome for outcome, _ in reasons()] == ["cancelled"]
    assert reasons()[0][1].startswith("the schedule was removed: ")
    calendar.declare(schedule="0 * * * *")
    assert calendar.row().id == first
    toa_clock.run_until_idle()
    assert len(called()) == 1, "nothing at once"
    toa_clock.advance(HOUR)
    assert len(called()) == 2


def test_removal_and_return_with_a_clock_set_back_call_no_occurrence_twice(calendar, toa_clock):
    calendar.declare(schedule="0 * * * *")
    toa_clock.advance(HOUR)
    toa_clock.set(toa_clock.now - 30 * MINUTE)
    calendar.declare()
    calendar.declare(schedule="0 * * * *")
    toa_clock.advance(30 * MINUTE)
    assert len(called()) == 1
    toa_clock.advance(HOUR)
    assert len(called()) == 2


def test_a_change_of_names_is_a_removal_and_a_new_schedule(calendar, toa_clock):
    calendar.declare({"name": "a", "schedule": "0 * * * *"})
    toa_clock.advance(HOUR)
    done = calendar.declare({"name": "b", "schedule": "0 * * * *"})
    assert (done.schedules, done.retired) == (1, 1)
    toa_clock.advance(HOUR)
    assert len(called()) == 2


def test_a_pause_drops_what_is_owed_and_a_resumed_schedule_waits_for_the_next(calendar, toa_clock):
    calendar.declare(schedule="0 * * * *")
    start = toa_clock.now
    toa_clock.set(start + HOUR + MINUTE)
    assert operating.pause(calendar.row(), "anna") == "paused"
    assert operating.pause(calendar.row(), "ben") == "already paused"
    assert calendar.row().paused_by == "anna"
    toa_clock.advance(4 * HOUR)
    assert called() == []
    assert operating.resume(calendar.row(), "ben") == "resumed"
    assert operating.resume(calendar.row(), "ben") == "not paused"
    toa_clock.run_until_idle()
    assert called() == []
    assert calendar.history() == [("cancelled", start + HOUR, 1), ("skipped", start + 2 * HOUR, 4)]
    assert [code.split(":")[0] for _, code in reasons()] == ["paused by anna"] * 2
    toa_clock.advance(HOUR)
    assert called() == [start + 6 * HOUR]


def test_a_pause_withdraws_a_stored_call_and_lets_a_running_one_finish(calendar, toa_clock):
    calendar.declare(schedule="0 * * * *", overlap="buffer")

    def buffered_then_paused():
        toa_clock.set(toa_clock.now + 20 * SECOND)
        Schedule.objects.filter(endpoint=NOTE).update(due_at=to_datetime(toa_clock.now), wake_at=to_datetime(0))
        operating.pause(calendar.row(), "anna")

    note.DURING.append(buffered_then_paused)
    toa_clock.advance(HOUR)
    toa_clock.advance(3 * HOUR)
    assert len(called()) == 1
    assert calendar.history("made") == [("made", called()[0], 1)]


def test_an_edit_while_paused_leaves_it_paused(calendar, toa_clock):
    calendar.declare(schedule="0 * * * *")
    operating.pause(calendar.row(), "anna")
    toa_clock.set(toa_clock.now + 2 * HOUR)
    calendar.declare(schedule="30 * * * *")
    assert (calendar.row().wake_at, calendar.row().paused_by) == (None, "anna")
    assert calendar.history() == [("skipped", toa_clock.now - HOUR, 2)]
    toa_clock.advance(HOUR)
    assert called() == []
    operating.resume(calendar.row(), "anna")
    toa_clock.advance(HOUR)
    assert len(called()) == 1


def test_fired_by_hand_it_is_called_now_and_the_calendar_goes_on(calendar, toa_clock):
    calendar.declare(schedule="0 * * * *")
    toa_clock.advance(10 * MINUTE)
    assert operating.fire(calendar.row(), "anna") == "fired"
    assert operating.fire(calendar.row(), "ben") == "being made"
    toa_clock.run_until_idle()
    asked = toa_clock.now
    assert called() == [asked]
    line = History.objects.get(source="schedule")
    assert (line.outcome, line.cause["asked_by"], line.lateness_ms) == ("made", "anna", 0)
    toa_clock.advance(50 * MINUTE)
    assert called() == [asked, asked + 50 * MINUTE]


def test_a_paused_schedule_can_be_fired_by_hand_and_stays_paused(calendar, toa_clock):
    calendar.declare(schedule="0 * * * *")
    operating.pause(calendar.row(), "anna")
    assert operating.fire(calendar.row(), "anna") == "fired"
    toa_clock.advance(3 * HOUR)
    assert len(called()) == 1


def test_what_is_retired_is_neither_paused_nor_resumed_nor_fired(calendar, toa_clock):
    calendar.declare(schedule="0 * * * *")
    calendar.declare()
    row = calendar.row()
    assert [act(row, "anna") for act in (operating.pause, operating.resume, operating.fire)] == ["retired"] * 3


def test_settings_change_what_they_name_and_may_turn_a_schedule_into_a_pulse(calendar, toa_clock, settings):
    calendar.declare(endpoint=STAMP, schedule="0 0 * * *")
    assert calendar.row(STAMP).overridden
    assert calendar.row(STAMP).query["limit"] == 3, "what the settings do not say is as the manifest says"
    settings.TOA = {**settings.TOA, "CADENCE": {STAMP: 3600}}
    sync()
    assert calendar.row(STAMP).retired_at is not None
    pulse = Pulse.objects.get(endpoint=STAMP)
    assert (pulse.cycle_ms, pulse.query["limit"], pulse.overridden) == (HOUR, 3, True)
    settings.TOA = {**settings.TOA, "CADENCE": {}}
    sync()
    assert calendar.row(STAMP).retired_at is None
    assert not calendar.row(STAMP).overridden
    assert Pulse.objects.get(endpoint=STAMP).retired_at is not None


class Changes:
    """Edits, pauses, resumes, removals and returns at random, and when the last one was."""

    DECLARED = {"schedule": "*/2 * * * * *", "overlap": "buffer"}

    def __init__(self, calendar, chance):
        self._calendar, self._chance = calendar, chance
        self.last = calendar.clock.now
        calendar.declare(**self.DECLARED)

    def make(self):
        """Make one, and see that nothing is due at once."""
        variants = [{}, {"jitter": 1}, {"catch_up": "each"}, {"zone": "Asia/Tokyo"}]
        kind = self._chance.choice(["edit", "edit", "remove", "pause", "resume", "resume"])
        row = self._calendar.row()
        if kind in ("pause", "resume"):
            changed = getattr(operating, kind)(row, "anna") in ("paused", "resumed")
        else:
            keys = {} if kind == "remove" else {**self.DECLARED, **self._chance.choice(variants)}
            done = self._calendar.declare(**keys)
            changed = bool(done.schedules or done.retired)
        if changed:
            self.last = self._calendar.clock.now
            row.refresh_from_db()
            assert row.wake_at is None or to_moment(row.wake_at) > self.last
            assert not ScheduledCall.objects.filter(token=None).exists()


@pytest.mark.parametrize("seed", range(2))
def test_S16_edited_paused_removed_and_returned_every_100_ms_it_calls_no_occurrence_twice_and_none_at_once(
    calendar, toa_clock, seed
):
    chance = random.Random(seed)
    changes = Changes(calendar, chance)
    waiting = []
    for _ in range(200):
        toa_clock.set(toa_clock.now + 100)
        if chance.random() < 0.7:
            hints = Collected()
            run_pass(hints)
            waiting += hints.hints
        if waiting and chance.random() < 0.8:
            before, changed = len(note.CALLS), changes.last
            note.DURING[:] = [changes.make] if chance.random() < 0.3 else []
            perform(waiting.pop(0), renew=False)
            note.DURING.clear()
            assert all(call["at"] > changed for call in note.CALLS[before:]), "none that was owed before a change"
        if chance.random() < 0.3:
            changes.make()
    assert called(), "some were called between the changes"
    calendar.declare(**Changes.DECLARED)
    operating.resume(calendar.row(), "anna")
    before = len(called())
    toa_clock.advance(10 * SECOND)
    assert len(called()) == before + 5
    assert all(earlier < later for earlier, later in pairwise(called())), "no occurrence twice"
