"""`manage.py toa runs`."""

import json

import pytest

import toa as api
from tests.commands.saying import toa
from tests.components.voyages.operations import hail, sail
from toa import time
from toa.core.clock import to_datetime
from toa.models import Pulse, Schedule

pytestmark = pytest.mark.django_db

SAIL = "components.voyages.sail"


@pytest.fixture(autouse=True)
def nothing_else(toa_clock):
    """No pulse and no schedule comes due on the way; the sailor sleeps an hour, tries an hour more, and may fail."""
    for model in (Pulse, Schedule):
        model.objects.update(wake_at=None, paused_at=to_datetime(toa_clock.now))
    hail.CALLS.clear()
    hail.FAILURES.clear()
    sail.SCRIPTS.clear()

    async def nap(input, context):
        await time.sleep("1h")
        if input.get("fail") and not hail.CALLS:
            raise ValueError("no wind")
        return {"slept": True}

    sail.SCRIPTS["nap"] = nap


def start(*more, **input):
    return toa("runs", "start", SAIL, json.dumps({"script": "nap", **input}), "--json", *more).data["run"]


def test_a_run_is_started_listed_shown_and_ends(toa_clock):
    run = start("--key", "one")
    assert start("--key", "one") == run
    toa_clock.run_until_idle()
    listed = toa("runs", "list", "--json").data["runs"]
    assert [(one["id"], one["state"], one["steps_done"]) for one in listed] == [(run, "sleeping", 0)]
    assert listed[0]["wakes"] == toa_clock.now + 3_600_000
    text = toa("runs", "list").text
    assert "sleeping" in text and "in 1h" in text
    shown = toa("runs", "show", run)
    assert "goes on" in shown.text and "waits" in shown.text
    toa_clock.advance("1h")
    assert toa("runs", "list").text.strip() == "No run is on its way."
    ended = toa("runs", "list", "--ended", "--outcome", "made", "--json").data["runs"]
    assert [(one["id"], one["result"]) for one in ended] == [(run, {"slept": True})]
    shown = toa("runs", "show", run, "--json").data
    assert (shown["state"], [step["kind"] for step in shown["steps"]]) == ("made", ["sleep"])


def test_the_steps_of_a_run_are_shown_by_pages(toa_clock):
    async def looking(input, context):
        for _ in range(3):
            await time.now()
        await time.sleep("1h")

    sail.SCRIPTS["nap"] = looking
    run = start()
    toa_clock.run_until_idle()
    first = toa("runs", "show", run, "--limit", 2)
    assert first.text.strip().endswith("more: --after 1")
    second = toa("runs", "show", run, "--limit", 2, "--after", 1)
    assert "waits" in second.text and "more:" not in second.text
    data = toa("runs", "show", run, "--limit", 2, "--json").data
    assert ([step["position"] for step in data["steps"]], data["after"]) == ([0, 1], 1)


def test_cancelling_says_what_it_did_and_a_second_time_too(toa_clock):
    run, other = start(), start()
    toa_clock.run_until_idle()
    said = toa("runs", "cancel", run, "--by", "ann", "--json")
    assert (said.code, said.data["results"][0]["answer"]) == (0, "being cancelled")
    toa_clock.run_until_idle()
    said = toa("runs", "cancel", run)
    assert (said.code, said.text.strip()) == (1, f"{run}: already cancelled")
    assert [one["id"] for one in toa("runs", "list", "--json").data["runs"]] == [other]
    assert "cancelled" in toa("runs", "list", "--ended").text


def test_a_failed_run_goes_on_from_its_step_when_retried(toa_clock):
    run = start(fail=True)
    toa_clock.advance("1h")
    assert [one["id"] for one in toa("runs", "list", "--state", "failed", "--json").data["runs"]] == [run]
    assert "no wind" in toa("runs", "show", run).text
    hail.CALLS.append("wind")
    assert toa("runs", "retry", run).code == 0
    toa_clock.run_until_idle()
    assert toa("runs", "show", run, "--json").data["result"] == {"slept": True}
    assert toa("runs", "retry", run).code == 1


def test_F12_check_names_the_run_that_the_code_here_would_break(toa_clock):
    run = start()
    toa_clock.run_until_idle()
    assert toa("runs", "check").text.strip() == "1 run would go on, 0 would break."

    async def nap(input, context):
        await context.local.hail({"name": "first"})

    sail.SCRIPTS["nap"] = nap
    said = toa("runs", "check")
    assert said.code == 1
    assert run in said.text and "sleep" in said.text and "hail" in said.text
    assert toa("runs", "check", "--json").data["break"][0]["steps"] == 0


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("start", SAIL, "{"), 2, "no JSON"),
        (("start", SAIL, "{}"), 1, "script"),
        (("start", "components.voyages.gone"), 1, "no operation"),
        (("start", "components.voyages.hail"), 1, "is called, not started"),
        (("show", "0" * 32), 1, "no run"),
        (("cancel", "0" * 32), 1, "no run"),
        (("retry", "0" * 32), 1, "no run"),
        (("list", "--outcome", "made"), 2, "--ended"),
        (("list", "--after", "x"), 2, "no mark"),
    ],
)
def test_what_cannot_be_done_is_said_with_an_exit_code(arguments, code, words):
    said = toa("runs", *arguments)
    assert said.code == code, said.text
    assert words in said.text


def test_a_sleeping_run_whose_sleep_is_the_same_holds_beside_one_that_ended(toa_clock):
    run = api.start(SAIL, {"script": "nap"})
    toa_clock.run_until_idle()
    document = toa("runs", "check", "--endpoint", SAIL, "--json").data
    assert document == {"hold": 1, "break": []}
    toa_clock.advance("1h")
    assert toa("runs", "check", "--json").data == {"hold": 0, "break": []}
    assert toa("runs", "show", run, "--json").data["ended"] == toa_clock.now
