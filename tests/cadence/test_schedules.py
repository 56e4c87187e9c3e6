"""Schedules: one call for each occurrence of the calendar, and a line for each that was not called."""

from datetime import UTC, datetime

import pytest

import toa
from tests.cadence.calendar import DAY, EXACT, HOUR, MINUTE, NOTE, SECOND
from tests.components.almanacs.operations import exact, note
from toa.cadence.actions.failures import retry
from toa.cadence.passes import Collected, perform, run_pass
from toa.cadence.reports import standing
from toa.cadence.sources import horizon
from toa.core.clock import to_moment
from toa.models import Failure, History, Schedule, ScheduledCall

pytestmark = pytest.mark.django_db


def at(text):
    """Epoch ms of `2026-03-08 07:00`, in UTC."""
    return to_moment(datetime.fromisoformat(text).replace(tzinfo=UTC))


def called():
    return [call["at"] for call in note.CALLS]


def test_S1_five_fields_call_at_the_minute_and_six_at_the_second(calendar, toa_clock):
    start = toa_clock.now
    calendar.declare(schedule="*/20 * * * *")
    toa_clock.advance(HOUR)
    assert called() == [start + 20 * MINUTE, start + 40 * MINUTE, start + HOUR]
    assert calendar.history() == [("made", moment, 1) for moment in called()]
    note.CALLS.clear()
    calendar.declare(schedule="*/20 * * * * *")
    start = toa_clock.now
    toa_clock.advance(MINUTE)
    assert called() == [start + 20 * SECOND, start + 40 * SECOND, start + MINUTE]
    toa_clock.run_until_idle()
    assert len(note.CALLS) == 3, "a moment equal to now is not repeated"


def test_S2_nine_in_tokyo_is_midnight_utc_whatever_the_servers_zone(calendar, toa_clock, settings):
    settings.TIME_ZONE = "America/Lima"
    calendar.declare(schedule="0 9 * * *", zone="Asia/Tokyo")
    toa_clock.advance(2 * DAY)
    assert called() == [at("2026-01-06 00:00"), at("2026-01-07 00:00")]


@pytest.mark.parametrize(
    ("gap", "ticks"),
    [("end", ["2026-03-08 07:00"]), ("shift", ["2026-03-08 07:30"]), ("skip", [])],
)
def test_S3_a_time_in_the_gap_is_called_as_the_rule_says(calendar, toa_clock, gap, ticks):
    toa_clock.set(at("2026-03-08 00:00"))
    calendar.declare(schedule="30 2 * * *", zone="America/New_York", gap=gap)
    toa_clock.advance_to(at("2026-03-09 12:00"))
    assert called() == [*map(at, ticks), at("2026-03-09 06:30")]


def test_S5_a_time_shown_twice_is_called_once_even_late_and_after_a_restart(calendar, toa_clock):
    toa_clock.set(at("2026-11-01 00:00"))
    calendar.declare(schedule="30 1 * * *", zone="America/New_York")
    toa_clock.set(at("2026-11-01 06:10"))
    toa_clock.run_until_idle()
    assert called() == [at("2026-11-01 05:30")]
    calendar.declare(schedule="30 1 * * *", zone="America/New_York")
    toa_clock.advance_to(at("2026-11-02 06:29"))
    assert len(note.CALLS) == 1
    toa_clock.advance_to(at("2026-11-02 06:30"))
    assert called()[1:] == [at("2026-11-02 06:30")]


def test_S6_hourly_follows_real_time_through_both_changes(calendar, toa_clock):
    for day, ticks in (("2026-03-08", 23), ("2026-11-01", 25)):
        midnight = at(f"{day} 05:00") if ticks == 23 else at(f"{day} 04:00")
        toa_clock.set(midnight - 1)
        calendar.declare(schedule="0 * * * *", zone="America/New_York")
        note.CALLS.clear()
        toa_clock.advance_to(midnight + ticks * HOUR - 1)
        assert len(note.CALLS) == ticks
        assert {later - earlier for earlier, later in zip(called(), called()[1:], strict=False)} == {HOUR}
        calendar.declare()


def test_S9_an_outage_across_a_change_gives_one_call_and_the_next_on_the_new_offset(calendar, toa_clock):
    toa_clock.set(at("2026-03-06 12:00"))
    calendar.declare(schedule="0 9 * * *", zone="America/New_York")
    toa_clock.set(at("2026-03-09 20:00"))
    toa_clock.run_until_idle()
    (call,) = note.CALLS
    assert (call["at"], call["last"], call["missed"]) == (at("2026-03-06 14:00"), at("2026-03-09 13:00"), 4)
    assert calendar.next() == at("2026-03-10 13:00")


def test_the_call_knows_the_moment_it_was_due_and_has_a_key_of_its_own(calendar, toa_clock):
    calendar.declare(schedule="0 * * * *")
    toa_clock.advance(2 * HOUR)
    first, second = note.CALLS
    assert first["due"] == first["after"] == first["at"]
    assert (first["missed"], first["last"]) == (0, first["at"])
    assert first["key"] != second["key"]


def test_an_operation_that_takes_the_moment_alone_gets_nothing_else(calendar, toa_clock):
    calendar.declare(endpoint=EXACT, schedule="0 * * * *")
    toa_clock.set(toa_clock.now + 3 * HOUR + 10 * MINUTE)
    toa_clock.run_until_idle()
    assert exact.CALLS == [{"at": at("2026-01-05 13:00")}]
    assert calendar.history("failed") == []


def test_several_schedules_of_one_operation_go_by_their_names(calendar, toa_clock):
    calendar.declare({"name": "early", "schedule": "0 13 * * *"}, {"name": "late", "schedule": "30 13 * * *"})
    toa_clock.advance(2 * HOUR)
    assert called() == [at("2026-01-05 13:00"), at("2026-01-05 13:30")]
    assert calendar.row(name="late").id != calendar.row(name="early").id


def test_jitter_moves_the_call_and_stays_beside_the_nominal_moment(calendar, toa_clock):
    calendar.declare(schedule="0 * * * *", jitter=1800)
    row = calendar.row()
    planned = to_moment(row.wake_at)
    assert at("2026-01-05 13:00") == to_moment(row.due_at) < planned < at("2026-01-05 13:30")
    toa_clock.advance_to(planned - 1)
    assert note.CALLS == []
    toa_clock.advance(1)
    (call,) = note.CALLS
    assert (call["at"], call["after"], call["due"]) == (at("2026-01-05 13:00"), at("2026-01-05 13:00"), planned)
    line = History.objects.get(source="schedule")
    assert (to_moment(line.due_at), line.lateness_ms) == (planned, 0)
    assert (line.cause["at"], line.cause["jitter_ms"]) == (call["at"], planned - call["at"])


def test_S14_a_clock_set_back_and_forward_repeats_nothing_and_calls_nothing_early(calendar, toa_clock):
    calendar.declare(schedule="0 * * * *")
    toa_clock.advance(HOUR)
    toa_clock.set(toa_clock.now - 2 * HOUR)
    toa_clock.advance(2 * HOUR + 59 * MINUTE)
    assert called() == [at("2026-01-05 13:00")]
    toa_clock.advance(MINUTE)
    assert called() == [at("2026-01-05 13:00"), at("2026-01-05 14:00")]


@pytest.mark.parametrize("overdue", [None, 86_400 * 400])
@pytest.mark.parametrize(
    ("schedule", "each"), [("*/1 * * * * *", SECOND), ("* * * * *", MINUTE), ("0 9 * * *", DAY), ("0 9 1 * *", None)]
)
@pytest.mark.parametrize("missed", [1, 10, 365])
def test_S17_catch_up_once_makes_one_call_for_all(calendar, toa_clock, schedule, each, missed, overdue):
    limit = {} if overdue is None else {"overdue": overdue}
    calendar.declare(schedule=schedule, **limit)
    first = calendar.next()
    last = first
    if each is None:
        missed = min(missed, 12)
        for _ in range(missed - 1):
            last = toa.next_occurrence(schedule, "UTC", after=last)
    else:
        last = first + (missed - 1) * each
    following = toa.next_occurrence(schedule, "UTC", after=last)
    toa_clock.set(following - 1)
    toa_clock.run_until_idle()
    (call,) = note.CALLS
    assert (call["at"], call["last"], call["missed"]) == (first, last, missed)
    assert calendar.next() == following
    toa_clock.advance(1)
    assert called() == [first, following]


def test_S17_catch_up_none_waits_for_the_next_and_records_what_was_missed(calendar, toa_clock):
    calendar.declare(schedule="0 * * * *", catch_up="none")
    toa_clock.set(toa_clock.now + 10 * HOUR + 20 * MINUTE)
    toa_clock.run_until_idle()
    assert note.CALLS == []
    assert calendar.history() == [("missed", at("2026-01-05 13:00"), 10)]
    toa_clock.advance(40 * MINUTE)
    assert called() == [at("2026-01-05 23:00")]


def test_S17_catch_up_each_makes_the_latest_one_after_another(calendar, toa_clock):
    calendar.declare(schedule="0 * * * *", catch_up={"each": {"max": 3}})
    toa_clock.set(toa_clock.now + 10 * HOUR + 20 * MINUTE)
    live = []
    note.DURING += [lambda: live.append(ScheduledCall.objects.filter(token=None).count())] * 3
    toa_clock.run_until_idle()
    assert called() == [at("2026-01-05 20:00"), at("2026-01-05 21:00"), at("2026-01-05 22:00")]
    assert live == [2, 1, 0], "the others wait until it is done"
    assert calendar.history("missed") == [("missed", at("2026-01-05 13:00"), 7)]


@pytest.mark.parametrize(("overdue", "made"), [(0, 0), (1800, 1), (None, 1)])
def test_S17_what_is_beyond_overdue_is_dropped_and_recorded(calendar, toa_clock, overdue, made):
    limit = {} if overdue is None else {"overdue": overdue}
    calendar.declare(schedule="0 * * * *", **limit)
    toa_clock.set(toa_clock.now + 3 * HOUR + 20 * MINUTE)
    toa_clock.run_until_idle()
    dropped = 3 if overdue == 0 else 2 if overdue else 0
    assert len(note.CALLS) == made
    assert [count for _, _, count in calendar.history("expired")] == ([dropped] if dropped else [])
    if overdue:
        assert (note.CALLS[0]["at"], note.CALLS[0]["missed"]) == (at("2026-01-05 15:00"), 1)


def test_a_stored_call_that_nobody_runs_in_time_expires(calendar, toa_clock):
    calendar.declare(schedule="0 * * * *", overdue=60)
    toa_clock.set(toa_clock.now + HOUR)
    run_pass(Collected())
    assert ScheduledCall.objects.count() == 1
    toa_clock.set(toa_clock.now + 5 * MINUTE)
    toa_clock.run_until_idle()
    assert note.CALLS == []
    assert calendar.history() == [("expired", at("2026-01-05 13:00"), 1)]


def during(toa_clock, duration):
    """Let time pass while a call runs, and everybody else go on."""

    def pass_time():
        toa_clock.set(toa_clock.now + duration)
        run_pass(Collected())

    return pass_time


def test_S13_overlap_skip_records_the_occurrence_that_found_a_call_running(calendar, toa_clock):
    calendar.declare(schedule="*/10 * * * * *", overlap="skip")
    start = toa_clock.now
    note.DURING.append(during(toa_clock, 10 * SECOND))
    toa_clock.advance(10 * SECOND)
    assert called() == [start + 10 * SECOND]
    assert calendar.history() == [("skipped", start + 20 * SECOND, 1), ("made", start + 10 * SECOND, 1)]
    toa_clock.advance(10 * SECOND)
    assert called()[1:] == [start + 30 * SECOND]


def test_S13_overlap_buffer_lets_one_follow(calendar, toa_clock):
    calendar.declare(schedule="*/10 * * * * *", overlap="buffer")
    start = toa_clock.now

    def two_pass():
        during(toa_clock, 10 * SECOND)()
        assert ScheduledCall.objects.count() == 2
        assert called() == [start + 10 * SECOND], "the second waits for the first"
        during(toa_clock, 10 * SECOND)()

    note.DURING.append(two_pass)
    toa_clock.advance(10 * SECOND)
    assert called() == [start + 10 * SECOND, start + 20 * SECOND]
    assert calendar.history("skipped") == [("skipped", start + 30 * SECOND, 1)]


def test_S13_overlap_allow_runs_both(calendar, toa_clock):
    calendar.declare(schedule="*/10 * * * * *", overlap="allow")
    start = toa_clock.now

    def second_runs_meanwhile():
        toa_clock.set(toa_clock.now + 10 * SECOND)
        hints = Collected()
        run_pass(hints)
        (hint,) = hints.hints
        assert perform(hint, renew=False)

    note.DURING.append(second_runs_meanwhile)
    toa_clock.advance(10 * SECOND)
    assert called() == [start + 10 * SECOND, start + 20 * SECOND]
    assert [line[:2] for line in calendar.history()] == [
        ("made", start + 20 * SECOND),
        ("made", start + 10 * SECOND),
    ]


def test_S17_while_missed_ones_are_made_up_what_comes_due_is_not_skipped(calendar, toa_clock):
    calendar.declare(schedule="*/10 * * * * *", catch_up="each")
    start = toa_clock.now
    note.DURING.append(during(toa_clock, 10 * SECOND))
    toa_clock.set(start + 25 * SECOND)
    toa_clock.run_until_idle()
    assert called() == [start + 10 * SECOND, start + 20 * SECOND, start + 30 * SECOND]
    assert calendar.history("skipped") == []


def test_an_error_reply_settles_the_call_as_refused(calendar, toa_clock):
    calendar.declare(schedule="0 * * * *")
    note.DURING.append(lambda: "tired")
    toa_clock.advance(HOUR)
    line = History.objects.get(source="schedule")
    assert (line.outcome, line.code) == ("refused", "TIRED")


def test_a_transient_error_is_tried_again_under_the_same_key_and_then_a_failure(calendar, toa_clock):
    calendar.declare(schedule="0 0 * * *")

    def refuse():
        raise ConnectionRefusedError("nobody there")

    note.DURING += [refuse, refuse]
    toa_clock.advance_to(at("2026-01-06 00:01"))
    assert len(note.CALLS) == 3
    assert len({call["key"] for call in note.CALLS}) == 1
    assert [line.attempt for line in History.objects.filter(source="schedule")] == [3]
    note.DURING += [refuse, refuse, refuse]
    toa_clock.advance_to(at("2026-01-07 00:01"))
    failure = Failure.objects.get()
    assert (failure.source, failure.attempts) == ("schedule", 3)
    assert failure.entity == f"schedule:{calendar.row().id.hex}"


def test_a_permanent_error_is_a_failure_and_the_calendar_goes_on(calendar, toa_clock):
    calendar.declare(schedule="0 * * * *")
    note.DURING.append(lambda: 1 / 0)
    toa_clock.advance(2 * HOUR)
    assert Failure.objects.get().error == "ZeroDivisionError: division by zero"
    assert [outcome for outcome, _, _ in calendar.history()] == ["failed", "made"]


def test_a_schedule_that_cannot_be_read_rests_and_holds_up_nobody(calendar, toa_clock):
    calendar.declare({"name": "broken", "schedule": "0 * * * *"}, {"name": "sound", "schedule": "0 * * * *"})
    Schedule.objects.filter(name="broken").update(zone="Mars/Olympus")
    toa_clock.advance(HOUR)
    assert called() == [at("2026-01-05 13:00")]
    line = History.objects.get(outcome="failed")
    assert line.code.startswith("InvalidZone: there is no time zone 'Mars/Olympus'")
    assert calendar.row(name="broken").wake_at is None
    calendar.declare({"name": "broken", "schedule": "0 * * * *"}, {"name": "sound", "schedule": "0 * * * *"})
    toa_clock.advance(HOUR)
    assert called()[1:] == [at("2026-01-05 14:00")] * 2


def test_two_passes_at_once_store_an_occurrence_once(calendar, toa_clock):
    calendar.declare(schedule="0 * * * *")
    toa_clock.set(toa_clock.now + HOUR)
    for _ in range(3):
        run_pass(Collected())
    assert ScheduledCall.objects.count() == 1
    toa_clock.advance(SECOND)
    assert called() == [at("2026-01-05 13:00")]


def test_the_horizon_knows_the_calendar_and_its_calls(calendar, toa_clock):
    calendar.declare(schedule="0 * * * *")
    assert (horizon().due, horizon().coming) == (None, at("2026-01-05 13:00"))
    toa_clock.set(at("2026-01-05 13:00"))
    assert horizon().due == at("2026-01-05 13:00")
    run_pass(Collected())
    assert horizon().due is None
    assert horizon().coming == at("2026-01-05 13:00") + SECOND, "the hint may be lost"


def test_a_failure_is_retried_as_the_same_call(calendar, toa_clock):
    calendar.declare(schedule="0 0 * * *")
    note.DURING.append(lambda: 1 / 0)
    toa_clock.advance_to(at("2026-01-06 00:00"))
    toa_clock.advance(MINUTE)
    assert retry(Failure.objects.get().id, "anna") == "tried again"
    again = ScheduledCall.objects.get()
    assert (again.schedule, again.at, again.beside) == (calendar.row().id, again.due_at, False)
    assert [one.running for one in standing.schedules(toa_clock.now) if one.endpoint == NOTE] == [1]
    toa_clock.advance(MINUTE)
    first, second = note.CALLS
    for name in ("at", "due", "after", "key"):
        assert second[name] == first[name], "it counts from the moment that was due"
    assert [outcome for outcome, _, _ in calendar.history()] == ["failed", "made"]
    toa_clock.advance(DAY)
    assert len(note.CALLS) == 3
