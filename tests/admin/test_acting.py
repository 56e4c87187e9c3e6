"""What operators do in the lists and on the pages of rows, and what they are told."""

from dataclasses import replace
from datetime import UTC, datetime
from uuid import uuid4

import pytest
from django.contrib.admin.models import CHANGE, DELETION, LogEntry
from django.contrib.auth.models import User
from django.contrib.messages import get_messages
from django.urls import resolve, reverse

from tests.admin import rows
from toa.admin import acting, decisions
from toa.admin.live import DelayAdmin
from toa.cadence.actions import delays
from toa.core.clock import to_datetime, to_moment
from toa.models import Delay, Failure, History, Pulse, Schedule

pytestmark = pytest.mark.django_db

HOUR = 3_600_000


@pytest.fixture
def act(root):
    """Have a person do something from a row's page or the page that asked: the response, and what was told."""

    def post(model, name, *keys, client=root, **form):
        address = reverse(f"admin:toa_{model._meta.model_name}_act", args=[name])
        response = client.post(address, {"_selected_action": [str(key) for key in keys], **form})
        return response, [str(one) for one in get_messages(response.wsgi_request)]

    return post


@pytest.fixture
def choose(root, address):
    """Choose an action in a list."""

    def post(model, name, *keys, query=None, **form):
        form = {"action": name, "index": "0", "_selected_action": [str(key) for key in keys], **form}
        response = root.post(address(model, **(query or {})), form)
        return response, [str(one) for one in get_messages(response.wsgi_request)]

    return post


def test_a_cancel_is_asked_about_first_and_then_said_and_logged(choose, act, address, toa_clock):
    row, other = rows.delay(toa_clock.now, HOUR), rows.delay(toa_clock.now, HOUR)
    asked, told = choose(Delay, "cancel", row.pk)
    assert asked.status_code == 200
    assert "This cannot be taken back" in asked.content.decode()
    assert str(row) in asked.content.decode()
    assert (told, Delay.objects.count()) == ([], 2)
    response, told = act(Delay, "cancel", row.pk, answered="1")
    assert response.url == address(Delay)
    assert told == [f"cancelled: {row}"]
    assert list(Delay.objects.all()) == [other]
    assert History.objects.get(call=row.pk).code == "by root"
    entry = LogEntry.objects.get()
    assert (entry.object_id, entry.action_flag, entry.user.username) == (str(row.pk), DELETION, "root")
    assert entry.change_message == "Cancel: cancelled"


def test_of_two_people_who_cancel_the_second_is_told_so(act, toa_clock):
    row = rows.delay(toa_clock.now, HOUR)
    act(Delay, "cancel", row.pk, answered="1")
    response, told = act(Delay, "cancel", row.pk, answered="1")
    assert response.status_code == 302
    assert told[-1:] == [f"already cancelled: {row.pk.hex}"]
    assert History.objects.filter(call=row.pk).count() == 1


def test_each_row_is_told_by_what_became_of_it(act, toa_clock):
    now = toa_clock.now
    first, second = rows.delay(now, HOUR), rows.delay(now, HOUR)
    running = rows.delay(now, -HOUR, token=uuid4(), wake_at=to_datetime(now + HOUR))
    made, unknown = uuid4(), uuid4()
    rows.history(now, call=made)
    _, told = act(Delay, "cancel", first.pk, second.pk, running.pk, made, unknown, answered="1")
    assert sorted(told) == sorted(
        [
            f"2 × cancelled:<br>{first}<br>{second}",
            f"being made: {running}",
            f"already made: {made.hex}",
            f"no stored call {unknown.hex} is known; it was never issued, or its history is pruned: {unknown.hex}",
        ]
    )


def test_a_call_is_moved_by_a_length_of_time_or_to_a_date(act, toa_clock):
    row = rows.delay(toa_clock.now, HOUR)
    asked, _ = act(Delay, "move", row.pk)
    assert 'name="interval"' in asked.content.decode()
    assert "Date and time in the zone UTC." in asked.content.decode()
    _, told = act(Delay, "move", row.pk, answered="1", interval="2h30m")
    assert told == [f"moved: {row}"]
    row.refresh_from_db()
    assert to_moment(row.due_at) == toa_clock.now + 2 * HOUR + HOUR // 2
    act(Delay, "move", row.pk, answered="1", at_0="2026-03-01", at_1="08:15:00")
    row.refresh_from_db()
    assert row.due_at == datetime(2026, 3, 1, 8, 15, tzinfo=UTC)
    assert LogEntry.objects.first().action_flag == CHANGE


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ({}, "Give a length of time or a date, one of them."),
        ({"interval": "2h", "at_0": "2026-03-01", "at_1": "08:00"}, "Give a length of time or a date, one of them."),
        ({"interval": "soon"}, "&#x27;soon&#x27;"),
        ({"interval": "90"}, "unit"),
        ({"interval": "-2h"}, "-2h"),
        ({"interval": "\0"}, "Null characters are not allowed."),
        ({"interval": "9999w"}, "hundred years"),
        ({"at_0": "2020-01-01", "at_1": "08:00"}, "This moment is over. Use Make now"),
        ({"at_0": "2026-13-01", "at_1": "08:00"}, "Enter a valid date."),
        ({"at_0": "2026-03-01", "at_1": ""}, "Enter a valid time."),
    ],
)
def test_a_moment_that_does_not_hold_is_refused_in_words(form, words, act, toa_clock):
    row = rows.delay(toa_clock.now, HOUR)
    response, told = act(Delay, "move", row.pk, answered="1", **form)
    assert response.status_code == 200
    assert words in response.content.decode()
    assert told == []
    row.refresh_from_db()
    assert to_moment(row.due_at) == toa_clock.now + HOUR
    assert not LogEntry.objects.exists()


def test_a_moment_that_the_clocks_pass_over_is_refused(act, settings, toa_clock):
    settings.TIME_ZONE = "Europe/Berlin"
    row = rows.delay(toa_clock.now, HOUR)
    response, _ = act(Delay, "move", row.pk, answered="1", at_0="2026-03-29", at_1="02:30")
    assert response.status_code == 200
    assert "couldn’t be interpreted in time zone Europe/Berlin" in response.content.decode()


def test_a_call_is_made_now_without_a_question(choose, toa_clock):
    row = rows.delay(toa_clock.now, HOUR)
    response, told = choose(Delay, "fire", row.pk, query={"due": "hour"})
    assert told == [f"fired: {row}"]
    assert response.url.endswith("?due=hour")
    row.refresh_from_db()
    assert to_moment(row.due_at) == toa_clock.now


@pytest.mark.parametrize(("model", "make"), [(Pulse, rows.pulse), (Schedule, rows.schedule)])
def test_O5_what_comes_again_is_paused_resumed_and_called_by_buttons(model, make, root, act, address, toa_clock):
    # One that the code knows: a call of it is stored.
    row = model.objects.filter(retired_at=None).first() if model is Schedule else make(toa_clock.now, HOUR)
    page = address(model, row)

    def offered():
        content = root.get(page).content.decode()
        return {name for name in ("pause", "resume", "fire") if f"/act/{name}/" in content}

    assert offered() == {"pause", "fire"}
    response, told = act(model, "pause", row.pk, page="1")
    assert (response.url, told) == (page, [f"paused: {row}"])
    assert offered() == {"resume", "fire"}
    assert act(model, "pause", row.pk)[1][-1:] == [f"already paused: {row}"]
    assert "by root" in root.get(address(model)).content.decode()
    assert act(model, "resume", row.pk)[1][-1:] == [f"resumed: {row}"]
    assert act(model, "resume", row.pk)[1][-1:] == [f"not paused: {row}"]
    assert act(model, "fire", row.pk)[1][-1:] == [f"fired: {row}"]
    again = {Pulse: "already asked for", Schedule: "being made"}[model]
    assert act(model, "fire", row.pk)[1][-1:] == [f"{again}: {row}"]
    assert act(model, "fire", uuid4())[1][-1].startswith("not there any more: ")


def test_a_failure_is_retried_or_discarded_once(act, toa_clock):
    first, second = (rows.failure(toa_clock.now, source="delay", endpoint="store.orders.cancel") for _ in range(2))
    assert act(Failure, "retry", first.pk)[1] == [f"tried again: {first}"]
    assert Delay.objects.get().pk == first.call
    assert "somebody decided it already" in act(Failure, "retry", first.pk)[1][-1]
    asked, _ = act(Failure, "discard", second.pk)
    assert "What is parked behind them goes on" in asked.content.decode()
    assert act(Failure, "discard", second.pk, answered="1")[1][-1:] == [f"discarded: {second}"]
    assert not Failure.objects.exists()
    assert History.objects.get(call=second.call).code == "discarded, by root"


def test_a_settled_event_is_sent_again_and_other_calls_are_not(root, act, address, toa_clock):
    request = {"input": {"reason": "EXPIRED"}, "query": {"id": rows.ORDER}}
    event = rows.history(toa_clock.now, source="delivery", request=request, cause={"event": "store.orders.created"})
    other = rows.history(toa_clock.now)
    assert "/act/replay/" in root.get(address(History, event)).content.decode()
    assert "/act/replay/" not in root.get(address(History, other)).content.decode()
    [told] = act(History, "replay", event.pk, answered="1")[1]
    sent = Delay.objects.get()
    assert told == f"sent again as {sent.pk.hex}: {event}"
    assert sent.cause["replayed_by"] == "root"
    assert "no event arrived" in act(History, "replay", other.pk, answered="1")[1][-1]


def test_what_breaks_for_one_row_keeps_no_other_from_its_turn(act, toa_clock, monkeypatch, caplog):
    row, broken = sorted((rows.delay(toa_clock.now, HOUR) for _ in range(2)), key=lambda one: one.pk, reverse=True)

    def cancel(subject, by, given):
        if subject.pk == broken.pk:
            raise RuntimeError("a bug")
        return delays.cancel(subject.pk, by)

    monkeypatch.setattr(DelayAdmin, "acts", (replace(decisions.CANCEL, run=cancel),))
    _, told = act(Delay, "cancel", row.pk, broken.pk, answered="1")
    assert told == [f"not done: an error, which is in the log: {broken}", f"cancelled: {row}"]
    assert "a bug" in caplog.text


def test_a_selection_that_takes_too_long_says_what_was_not_tried(act, toa_clock, monkeypatch):
    made = [rows.delay(toa_clock.now, HOUR) for _ in range(2)]
    monkeypatch.setattr(acting, "PATIENCE_S", -1.0)
    _, told = act(Delay, "cancel", *(row.pk for row in made), answered="1")
    assert told == [f"2 × {acting.NOT_TRIED}:<br>{made[0]}<br>{made[1]}"]
    assert Delay.objects.count() == 2
    assert not LogEntry.objects.exists()


@pytest.mark.parametrize("keys", [[], ["nonsense"], ["\0"], [str(uuid4()) for _ in range(101)]])
def test_a_selection_that_is_none_is_a_bad_request(keys, act, toa_clock):
    assert act(Delay, "cancel", *keys, answered="1")[0].status_code == 400


def test_no_request_reaches_more_than_what_was_selected(choose, act, toa_clock):
    row, other = rows.delay(toa_clock.now, HOUR), rows.delay(toa_clock.now, HOUR)
    choose(Delay, "fire", row.pk, select_across="1")
    other.refresh_from_db()
    assert to_moment(other.due_at) == toa_clock.now + HOUR


def test_an_action_is_not_taken_by_an_address_alone(root, toa_clock):
    row = rows.delay(toa_clock.now, HOUR)
    address = reverse("admin:toa_delay_act", args=["cancel"])
    assert root.get(address, {"_selected_action": str(row.pk), "answered": "1"}).status_code == 405
    assert root.post(reverse("admin:toa_delay_act", args=["nothing"]), {}).status_code == 404
    assert Delay.objects.count() == 1


def test_the_page_leads_back_into_the_list_it_came_from_and_nowhere_else(choose, act, address, toa_clock):
    row = rows.delay(toa_clock.now, HOUR)
    asked, _ = choose(Delay, "cancel", row.pk, query={"due": "hour", "q": "//evil.example"})
    assert 'name="listed" value="due=hour&amp;q=%2F%2Fevil.example"' in asked.content.decode()
    response, _ = act(Delay, "cancel", row.pk, answered="1", listed="//evil.example", page="1")
    assert response.url == f"{address(Delay)}?//evil.example"


def test_what_a_person_does_is_seen_in_the_history_of_the_object(root, act, address, toa_clock):
    row = rows.pulse(toa_clock.now, HOUR)
    act(Pulse, "pause", row.pk)
    assert "Pause: paused" in root.get(address(Pulse, row, "history")).content.decode()
    assert LogEntry.objects.get().user == User.objects.get(username="root")


def test_the_log_of_toa_names_the_person_too(act, toa_clock, caplog):
    row = rows.delay(toa_clock.now, HOUR)
    with caplog.at_level("INFO", logger="toa.cadence"):
        act(Delay, "cancel", row.pk, answered="1")
    [record] = [one for one in caplog.records if getattr(one, "action", "") == "cancel_delay"]
    assert (record.by, record.answer) == ("root", "cancelled")


def test_labels_of_rows_are_text_in_what_is_told(act, toa_clock):
    row = rows.delay(toa_clock.now, HOUR, endpoint="<b>x</b>")
    [told] = act(Delay, "cancel", row.pk, answered="1")[1]
    assert told.startswith("cancelled: &lt;b&gt;x")


def test_actions_are_taken_outside_of_a_transaction_around_the_request():
    # Else a selection would hold the locks of all its rows until the last of them is done.
    for name, arguments in (("changelist", []), ("act", ["cancel"])):
        view = resolve(reverse(f"admin:toa_delay_{name}", args=arguments)).func
        assert "default" in view._non_atomic_requests
