"""What the columns say."""

import re
from datetime import UTC, datetime, timedelta
from html import unescape
from uuid import uuid4

import pytest
from django.utils import timezone

from tests.admin import rows
from toa.core.clock import to_datetime
from toa.models import Component, Delay, Delivery, Failure, History, Process, Pulse, Revision, Schedule

pytestmark = pytest.mark.django_db

SECOND = 1000
MINUTE = 60 * SECOND


@pytest.fixture
def column(root, address):
    """The text of a column, row by row, of a model's list."""

    def read(model, name, **query):
        page = root.get(address(model, **query)).content.decode()
        cells = re.findall(rf'<t[dh] class="field-{name}[ "].*?</t[dh]>', page, re.DOTALL)
        return [" ".join(unescape(re.sub(r"<[^>]+>", " ", cell)).split()) for cell in cells]

    return read


@pytest.fixture
def line(root, address):
    """The text of a line of a row's own page."""

    def read(row, name):
        page = root.get(address(type(row), row)).content.decode()
        [found] = re.findall(rf'field-{name}">.*?<div class="readonly">(.*?)</div>', page, re.DOTALL)
        return " ".join(unescape(re.sub(r"<[^>]+>", " ", found)).split())

    return read


def test_due_is_a_date_with_its_distance_to_now(column, toa_clock):
    for due in (2 * MINUTE, 0, -3 * SECOND):
        rows.delay(toa_clock.now, due)
    assert column(Delay, "due") == [
        "2026-01-05 11:59:57 3 s late",
        "2026-01-05 12:00:00 now",
        "2026-01-05 12:02:00 in 2 min",
    ]


def test_dates_are_in_the_zone_of_the_site(column, settings, toa_clock):
    settings.TIME_ZONE = "Asia/Tokyo"
    rows.delay(toa_clock.now, MINUTE)
    assert column(Delay, "due") == ["2026-01-05 21:01:00 in 1 min"]


def test_the_last_moment_there_is_can_be_shown_in_every_zone(root, address, toa_clock):
    last = datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)
    row = rows.delay(toa_clock.now, due_at=last, wake_at=last)
    with timezone.override("Asia/Tokyo"):
        assert "9999-12-31 23:59:59" in root.get(address(Delay)).content.decode()
        assert "9999-12-31 23:59:59" in root.get(address(Delay, row)).content.decode()


@pytest.mark.parametrize(
    ("due", "columns", "state"),
    [
        (MINUTE, {}, "waiting"),
        (-MINUTE, {}, "due"),
        (0, {}, "due"),
        (-MINUTE, {"wake": 500}, "handed out"),
        (-MINUTE, {"wake": 20 * SECOND, "attempt": 1}, "waiting next try in 20 s"),
        (
            -MINUTE,
            {"wake": 20 * SECOND, "attempt": 1, "error": "OSError: no"},
            "waiting next try in 20 s, after OSError: no",
        ),
        (-MINUTE, {"wake": -SECOND, "attempt": 1}, "due"),
        (-MINUTE, {"wake": 20 * SECOND, "token": uuid4()}, "running lease ends in 20 s"),
        (-MINUTE, {"wake": -SECOND, "token": uuid4()}, "running lease lapsed"),
        (-MINUTE, {"wake_at": None, "attempt": 3}, "parked"),
    ],
)
def test_the_state_of_a_live_call(due, columns, state, column, line, toa_clock):
    wake = columns.pop("wake", None)
    if wake is not None:
        columns["wake_at"] = to_datetime(toa_clock.now + wake)
    for make in (rows.delay, rows.delivery):
        row = make(toa_clock.now, due, **columns)
        assert column(type(row), "state") == [state]
        assert line(row, "state") == state


@pytest.mark.parametrize(("strikes", "text"), [(0, "2"), (1, "2 1 strike"), (2, "2 2 strikes")])
def test_attempts_say_how_many_took_their_process_with_them(strikes, text, column, toa_clock):
    rows.delay(toa_clock.now, attempt=2, strikes=strikes)
    assert column(Delay, "attempts") == [text]


@pytest.mark.parametrize(
    ("overdue", "text"), [(None, "never, however late"), (0, "when it is 0ms late"), (90_000, "when it is 1m30s late")]
)
def test_when_a_delay_expires(overdue, text, line, toa_clock):
    assert line(rows.delay(toa_clock.now, overdue_ms=overdue), "overdue") == text


def test_an_entity_leads_to_its_page_where_it_has_one(root, address, column, toa_clock):
    rows.delay(toa_clock.now)
    rows.delivery(toa_clock.now, source="components.tallies", source_id="1")
    rows.history(toa_clock.now, entity="nowhere.known:1")
    rows.failure(toa_clock.now, entity="")
    assert f'<a href="/admin/store_orders/order/{rows.ORDER}/change/">' in root.get(address(Delay)).content.decode()
    deliveries = root.get(address(Delivery)).content.decode()
    assert '<a href="/admin/fulfilment_stock/stock/P-001/change/">' in deliveries
    assert re.search(r'field-happened">store.orders.created<br><span', deliveries)
    assert column(Delivery, "happened") == ["store.orders.created 1"]
    assert column(Delivery, "received_by") == ["fulfilment.stock: P-001"]
    assert re.search(r'field-about">nowhere.known:<br>', root.get(address(History)).content.decode())
    assert column(Failure, "about") == ["-"]


def test_the_cause_of_a_delay_is_who_armed_it_and_under_which_name(column, toa_clock):
    rows.delay(toa_clock.now)
    rows.delay(toa_clock.now, 1, name="payment")
    by = "store.orders.cancel by store.orders.create"
    assert column(Delay, "called") == [by, f"{by} as payment"]


def test_a_delivery_without_a_target_names_its_receiver(column, toa_clock):
    rows.delivery(toa_clock.now, target="")
    assert column(Delivery, "received_by") == ["fulfilment.stock"]


def test_a_line_of_history_says_what_became_of_the_call(column, line, toa_clock):
    rows.history(toa_clock.now, -MINUTE, 12, outcome="refused", code="NOT_PENDING", attempt=2)
    rows.history(toa_clock.now, -2 * MINUTE, 3_250, outcome="missed", count=12, cause=None)
    assert column(History, "became") == ["refused NOT_PENDING", "missed × 12"]
    assert column(History, "due") == ["2026-01-05 11:58:59 1 min ago", "2026-01-05 11:57:56 2 min 3 s ago"]
    assert column(History, "lateness") == ["12 ms", "3.2 s"]
    assert column(History, "attempt") == ["2", "1"]
    assert column(History, "called") == ["store.orders.cancel by store.orders.create", "store.orders.cancel"]
    assert line(History.objects.get(outcome="missed"), "lateness") == "3.2 s"


def test_a_long_error_is_cut_in_the_list_and_whole_on_its_page(column, line, toa_clock):
    row = rows.failure(toa_clock.now, error="x" * 500)
    assert column(Failure, "sentence") == ["x" * 119 + "…"]
    assert line(row, "message") == "x" * 500


def test_a_failure_leads_to_the_history_of_its_call(root, address, toa_clock):
    row = rows.failure(toa_clock.now)
    rows.history(toa_clock.now, call=row.call, outcome="failed")
    rows.history(toa_clock.now)
    link = address(History, q=row.call.hex)
    assert f'<a href="{link}">{row.call.hex}</a>' in root.get(address(Failure, row)).content.decode()
    assert root.get(link).context["cl"].result_count == 1


def test_P12_a_pulse_says_that_the_settings_overrode_it(column, toa_clock):
    Pulse.objects.all().delete()
    rows.pulse(toa_clock.now, overridden=True, name="a")
    rows.pulse(toa_clock.now, name="b")
    assert column(Pulse, "every") == ["5m by the settings, not the manifest", "5m"]


def test_a_pulse_shows_its_grid_and_where_it_stands(column, toa_clock):
    now = toa_clock.now
    Pulse.objects.all().delete()
    rows.pulse(now, 90 * SECOND, name="a")
    rows.pulse(now, -SECOND, name="b", cycle_ms=86_400_000, intervals=24)
    rows.pulse(now, 30 * SECOND, name="c", token=uuid4(), running=2, started_at=to_datetime(now - 5 * SECOND))
    rows.pulse(now, name="d", wake_at=None, paused_at=to_datetime(now))
    rows.pulse(now, name="e", wake_at=None, retired_at=to_datetime(now))
    assert column(Pulse, "every") == ["5m", "24 times in 1d", "5m", "5m", "5m"]
    due = ["2026-01-05 12:01:30 in 1 min 30 s", "2026-01-05 11:59:59 1 s late", "-", "-", "-"]
    assert column(Pulse, "next_due") == due
    assert column(Pulse, "state") == ["waiting", "due", "running for 5 s", "paused", "retired"]


def test_a_pulse_leads_to_its_calls(root, address, toa_clock):
    row = rows.pulse(toa_clock.now)
    rows.history(toa_clock.now, call=row.id, source="pulse", entity="")
    link = address(History, q=row.id.hex)
    assert f'<a href="{link}">Calls of this pulse</a>' in root.get(address(Pulse, row)).content.decode()
    assert root.get(link).context["cl"].result_count == 1


def test_a_process_is_alive_by_the_clock_that_writes_heartbeats(root, address, column, toa_clock):
    present = datetime.now(UTC)
    rows.process(toa_clock.now, seen_at=present, skew_ms=-40, kind="beat")
    rows.process(toa_clock.now, seen_at=present - timedelta(seconds=20), skew_ms=1_500)
    page = root.get(address(Process)).content.decode()
    assert re.findall(r'field-alive"><img [^>]*alt="(\w+)"', page) == ["True", "False"]
    assert column(Process, "skew") == ["-40 ms", "1.5 s"]
    assert column(Process, "runs") == ["1", "1"]
    assert column(Process, "seen")[1].endswith("20 s ago")


def test_what_is_synced_is_listed_with_its_manifest(root, address):
    row = Component.objects.get(locator="store.orders")
    page = root.get(address(Component, row)).content.decode()
    assert "&quot;name&quot;: &quot;orders&quot;" in page


def test_O1_a_schedule_says_when_in_words_and_its_next_five_by_both_clocks(column, line, toa_clock):
    Schedule.objects.all().delete()
    row = rows.schedule(toa_clock.now, MINUTE, name="a")
    rows.schedule(toa_clock.now, name="b", overridden=True, paused_at=to_datetime(toa_clock.now), paused_by="ann")
    rows.scheduled_call(toa_clock.now, schedule=row.id)
    rows.history(toa_clock.now, -MINUTE, entity=f"schedule:{row.id.hex}", outcome="refused", code="EMPTY")
    assert column(Schedule, "words") == [
        "At 09:00, only on Monday 0 9 * * mon in Europe/Berlin",
        "At 09:00, only on Monday 0 9 * * mon in Europe/Berlin by the settings, not the manifest",
    ]
    assert column(Schedule, "state") == ["1 being made", "paused by ann"]
    assert column(Schedule, "next_due") == ["2026-01-05 12:01:00 in 1 min", "-"]
    assert column(Schedule, "last") == ["refused EMPTY 1 min ago", "-"]
    assert line(row, "ahead").startswith(
        "Mon 2026-01-12 09:00:00 +01:00 2026-01-12 08:00:00 UTC Mon 2026-01-19 09:00:00 +01:00"
    )
    assert line(row, "ahead").count("UTC") == 5


def test_O1_a_pulse_shows_what_became_of_its_last_call(column, toa_clock):
    Pulse.objects.all().delete()
    row = rows.pulse(toa_clock.now, name="a")
    rows.history(toa_clock.now, -2 * MINUTE, call=row.id, endpoint=row.endpoint, outcome="made")
    rows.history(toa_clock.now, -MINUTE, call=row.id, endpoint=row.endpoint, outcome="failed", code="OSError: gone")
    rows.history(toa_clock.now, endpoint=row.endpoint)
    assert column(Pulse, "last") == ["failed OSError: gone 1 min ago"]


def test_O1_a_failure_shows_what_is_parked_behind_it_and_leads_there(root, address, column, line, toa_clock):
    first, *_ = (rows.delivery(toa_clock.now, source_id="1", version=version, wake_at=None) for version in (1, 2, 3))
    row = rows.failure(toa_clock.now, call=first.id, entity="fulfilment.stock:P-001")
    alone = rows.failure(toa_clock.now, source="delay")
    assert (line(row, "behind"), line(alone, "behind")) == ("2 events", "-")
    assert column(Delivery, "state") == ["failed", "parked", "parked"]
    link = address(Delivery, q="fulfilment.stock:P-001", due="parked").replace("&", "&amp;")
    assert f'<a href="{link}">2 events</a>' in root.get(address(Failure, row)).content.decode()
    assert address(Failure, row) in root.get(address(Delivery)).content.decode()


def test_O1_a_failed_deadline_shows_the_events_that_wait_for_its_instance(root, address, line, toa_clock):
    process = uuid4().hex
    row = rows.failure(toa_clock.now, source="deadline", entity=f"store.lifecycle:{process}")
    assert line(row, "behind") == "nothing"
    parked = rows.delivery(toa_clock.now, receiver="store.lifecycle", target=process, wake_at=None)
    rows.delivery(toa_clock.now, receiver="store.lifecycle", target=uuid4().hex, wake_at=None)
    assert line(row, "behind") == "1 event"
    link = address(Delivery, q=row.entity, due="parked")
    assert f'<a href="{link.replace("&", "&amp;")}">1 event</a>' in root.get(address(Failure, row)).content.decode()
    assert [one.id for one in root.get(link).context["cl"].result_list] == [parked.id]


def test_P12_a_component_shows_its_problems_and_what_the_settings_changed(root, column, line, toa_clock):
    row = Component.objects.get(locator="store.reports")
    assert line(row, "problems") == "none"
    assert "schedule store.reports.weekly" in line(row, "cadence")
    assert "by the settings" not in line(row, "cadence")
    Schedule.objects.filter(endpoint="store.reports.weekly").update(overridden=True)
    Component.objects.filter(pk=row.pk).update(digest="0" * 64)
    assert "schedule store.reports.weekly , by the settings, not the manifest" in line(row, "cadence")
    assert line(row, "problems").startswith("The manifest of this process is not the one that was synced")
    assert column(Component, "problem_count").count("1") == 1


def test_a_revision_says_what_changed(column, toa_clock):
    rows.revision(toa_clock.now, changes={"status": ["a", "b"], "<i>": [1, 2]})
    assert column(Revision, "changed") == ["<i>, status"]
