"""Runs of workflows in the admin: what their pages say, and what people do about them."""

import re
from html import unescape

import pytest
from django.contrib.admin.models import CHANGE, DELETION, LogEntry
from django.contrib.messages import get_messages
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

import toa
from tests.admin import rows
from tests.components.voyages.operations import hail, sail
from toa import time
from toa.core.clock import to_datetime
from toa.models import EndedRun, Failure, History, Run, RunCall, RunStep

pytestmark = pytest.mark.django_db

SAIL = "components.voyages.sail"
HAIL = "components.voyages.hail"
HOUR = 3_600_000


@pytest.fixture
def started(toa_clock):
    """Start a run of an async function, and let it come as far as it comes."""

    def start(function, **options):
        sail.SCRIPTS[function.__name__] = function
        run = toa.start(SAIL, {"script": function.__name__}, **options)
        toa_clock.run_until_idle()
        return Run.objects.get(pk=run)

    return start


@pytest.fixture
def told(root):
    """What a person is told who takes an action on a run's page."""

    def act(name, row, **form):
        address = reverse("admin:toa_run_act", args=[name])
        response = root.post(address, {"_selected_action": str(row.pk), "page": "1", **form})
        return response, [str(one) for one in get_messages(response.wsgi_request)]

    return act


@pytest.fixture
def words(root, address):
    """The words of a page, without its markup."""

    def of(row):
        response = root.get(address(type(row), row))
        assert response.status_code == 200
        page = response.content.decode().partition('id="content"')[2]
        return " ".join(unescape(re.sub(r"<[^>]+>", " ", page)).split())

    return of


async def resting(input, context):
    await context.call("components.voyages.muse", {"value": "x" * 500})
    await time.sleep("2h")


async def sinking(input, context):
    await time.sleep(1)
    raise KeyError("hunter2")


async def watching(input, context):
    await time.watch(time.interval("1m"), lambda moment: None, key="lookout")


async def hailing(input, context):
    await context.call(HAIL, {"name": "a"})


def test_a_run_that_sleeps_shows_its_steps_and_when_it_goes_on(started, words, root, address, toa_clock):
    row = started(resting, key="anna")
    page = words(row)
    assert "key: anna" in page.lower()
    assert "step kind name outcome when value 0 call components.voyages.muse made" in page
    assert '{"of": "' + "x" * 111 + "…" in page
    assert "1 sleep waits 2026-01-05 14:00:00 in 2 h" in page
    listed = root.get(address(Run, state="sleeping", endpoint=SAIL))
    assert list(listed.context["cl"].result_list) == [row]
    assert list(root.get(address(Run, q="anna")).context["cl"].result_list) == [row]
    assert list(root.get(address(Run, state="failed")).context["cl"].result_list) == []


def test_the_page_of_a_run_says_in_words_why_it_is_where_it_is(started, words, toa_clock):
    row = started(resting)
    page = words(row)
    assert f"The run {row.pk.hex} of {SAIL} waits since 2026-01-05 12:00:00 UTC, now." in page
    assert "At step 1 it waits for the moment 2026-01-05 14:00:00 UTC, in 2h." in page
    assert "Nobody is running what comes due" in page
    assert "Step 0, call" not in page, "its steps are in the table"


def test_a_watch_shows_where_it_stands(started, words, toa_clock):
    assert "lookout: done up to 2026-01-05 12:00:00, now" in words(started(watching))


def test_a_run_that_waits_for_an_effect_names_it(words, toa_clock):
    sail.SCRIPTS["hailing"] = hailing
    call = rows.uuid4()
    row = rows.run(toa_clock.now, wake_at=None, waits={"kind": "call", "name": HAIL, "position": 1, "call": call.hex})
    moment = to_datetime(toa_clock.now + HOUR)
    RunCall.objects.create(
        id=call, run=row.pk, position=1, endpoint=HAIL, request={}, due_at=moment, wake_at=moment, attempt=1,
        created_at=moment, token=rows.uuid4(),
    )  # fmt: skip
    page = words(row)
    assert f"1 call {HAIL} waits" in page
    assert f"{HAIL} runs, its lease ends in 1 h; attempt 2" in page


def test_a_run_that_ended_without_a_step_has_its_page_and_is_found_by_its_key(words, root, address, toa_clock):
    async def at_once(input, context):
        return "done"

    sail.SCRIPTS["at_once"] = at_once
    run = toa.start(SAIL, {"script": "at_once"}, key="k" * 150)
    toa_clock.run_until_idle()
    row = EndedRun.objects.get(pk=run)
    assert "Steps: none" in words(row)
    page = root.get(address(EndedRun, q="k" * 150))
    assert list(page.context["cl"].result_list) == [row]
    assert "k" * 35 + "…" in page.content.decode(), "a long key leaves room for the other columns"
    assert list(root.get(address(EndedRun, q="k" * 151)).context["cl"].result_list) == []


def test_many_steps_are_shown_a_page_at_a_time_from_the_last(words, root, address, toa_clock):
    row = rows.run(toa_clock.now, steps=251)
    moment = to_datetime(toa_clock.now)
    RunStep.objects.bulk_create(
        RunStep(run=row.pk, position=at, kind="now", outcome="made", value=at, at=moment) for at in range(1, 251)
    )
    page = words(row)
    assert "51 steps before these step kind" in page
    assert " 50 now made" not in page and " 51 now made" in page and " 250 now made" in page
    page = root.get(address(Run, row), {"before": "51"}).content.decode()
    assert 'href="?">The last steps' in page and "before these" not in page and ">waits<" not in page
    assert "<td>50</td>" in page and "<td>51</td>" not in page and "<td>0</td><td>call</td>" in page
    assert "<td>250</td>" in root.get(address(Run, row), {"before": "-1"}).content.decode(), (
        "what is no position says nothing"
    )


def test_a_long_journal_of_a_run_that_ended_is_shown_by_pages_too(words, root, address, toa_clock):
    steps = [
        {"position": at, "kind": "now", "name": "", "outcome": "made", "value": "x" * 200, "at": toa_clock.now}
        for at in range(300)
    ]
    row = rows.ended_run(toa_clock.now, steps=steps)
    with CaptureQueriesContext(connection) as queries:
        page = words(row)
    assert "100 steps before these" in page and " 100 now made" in page and " 299 now made" in page
    assert not any('"toa_endedrun"."steps"' in one["sql"] for one in queries.captured_queries), "values are cut there"
    page = root.get(address(EndedRun, row), {"before": "100"}).content.decode()
    assert "<td>99</td>" in page and "<td>100</td>" not in page and "before these" not in page


def test_a_run_is_cancelled_after_a_question_and_ends_by_itself(started, told, words, root, address, toa_clock):
    row = started(resting)
    asked, _ = told("cancel", row)
    assert "This cannot be taken back" in asked.content.decode()
    response, messages = told("cancel", row, answered="1")
    assert (response.url, messages) == (address(Run, row), [f"being cancelled: {row}"])
    assert "asked for by root, now" in words(row)
    assert LogEntry.objects.get().action_flag == CHANGE
    assert "/act/cancel/" not in root.get(address(Run, row)).content.decode()
    toa_clock.run_until_idle()
    # Its page leads on to what became of it.
    ended = EndedRun.objects.get(pk=row.pk)
    assert root.get(address(Run, row)).url == address(EndedRun, ended)
    page = words(ended)
    assert "cancelled by root" in page and "0 call components.voyages.muse made" in page


def test_a_failed_run_leads_to_its_failure_and_back_and_is_decided_once(started, told, words, root, address, toa_clock):
    row = started(sinking)
    toa_clock.advance(2)
    failure = Failure.objects.get()
    page = root.get(address(Run, row)).content.decode()
    assert address(Failure, failure) in page and "KeyError: &#x27;hunter2&#x27;" in page
    assert address(Run, row) in root.get(address(Failure, failure)).content.decode()
    assert reverse("admin:toa_failure_changelist", query={"q": row.pk.hex}) in root.get(address(Run)).content.decode()
    assert told("retry", row)[1] == [f"tried again: {row}"]
    assert told("retry", row)[1][-1].startswith(f"no run {row.pk.hex} waits for a decision")
    toa_clock.run_until_idle()
    _, messages = told("discard", row, answered="1")
    assert messages[-1] == f"discarded: {row}"
    assert LogEntry.objects.first().action_flag == DELETION
    assert EndedRun.objects.get().outcome == "failed"


def test_what_effects_of_a_run_are_about_leads_to_the_run(root, address, toa_clock):
    hail.CALLS.clear()
    hail.FAILURES.clear()
    sail.SCRIPTS["hailing"] = hailing
    run = toa.start(SAIL, {"script": "hailing"})
    toa_clock.run_until_idle()
    assert History.objects.get(source="step").entity == f"run:{run}"
    assert reverse("admin:toa_run_change", args=[run]) in root.get(address(History, source="step")).content.decode()
    assert EndedRun.objects.get().pk.hex == run
