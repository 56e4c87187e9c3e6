"""Runs of workflows over HTTP: started by callers and by operators, listed, shown step by step, decided."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User

import toa
from tests.components.voyages.operations import sail
from tests.rest.test_clock import NOBODY, operator
from toa import time
from toa.models import EndedRun, Run

TEND = "/api/components/desks/tend/"
RUNS = "/api/toa/runs/"
SAIL = "components.voyages.sail"


@pytest.fixture
def broken(toa_clock: Any) -> str:
    """A run that failed."""

    async def sinking(input: Any, context: Any) -> None:
        raise KeyError("hunter2")

    sail.SCRIPTS["sinking"] = sinking
    run = toa.start(SAIL, {"script": "sinking"})
    toa_clock.run_until_idle()
    return run


def test_a_start_answers_with_the_run_and_repeated_by_its_key_starts_nothing(anna, bob, toa_clock):
    first = anna.post(TEND, {"seconds": 3}, idempotency_key="k" * 255)
    again = anna.post(TEND, {"seconds": 3}, idempotency_key="k" * 255)

    assert (first.status, again.status) == (202, 202)
    assert first.json == again.json == {"run": Run.objects.get().id.hex}
    assert anna.post(TEND, {"seconds": 4}, idempotency_key="k" * 255).problem()["status"] == 409
    # Another's key is another key, and none is a run of its own.
    assert bob.post(TEND, {"seconds": 4}, idempotency_key="k" * 255).status == 202
    assert anna.post(TEND, {"seconds": 3}).json != first.json
    user = User.objects.get(username="anna")
    assert anna.post(TEND, {"seconds": 3}, idempotency_key="short").status == 202
    assert Run.objects.filter(key=f"user:{user.pk}:short").count() == 1
    assert Run.objects.count() == 4


@pytest.mark.parametrize(
    ("body", "key", "pointers"),
    [({"seconds": "3"}, "k", {"/seconds"}), ({}, "k", {""}), ({"seconds": 3}, "k" * 256, None)],
)
def test_a_start_that_does_not_fit_starts_nothing(anna, body, key, pointers):
    refused = anna.post(TEND, body, idempotency_key=key).problem()

    assert refused["status"] == 400
    assert pointers is None or {one["pointer"] for one in refused["errors"]} == pointers
    assert not Run.objects.exists()


def test_an_operator_starts_any_workflow_and_follows_it_to_its_end(toa_clock):
    api = operator("toa.start_run", "toa.view_run", "toa.cancel_run")
    body = {"endpoint": "components.desks.tend", "input": {"seconds": 2}, "key": "two"}
    started = api.post(RUNS, body)
    place = started.headers["Location"]

    assert api.post(RUNS, body).json == started.json
    toa_clock.run_until_idle()
    shown = api.get(place).json
    assert (shown["state"], shown["key"], shown["input"]) == ("sleeping", "two", {"seconds": 2})
    assert shown["wakes"] == toa_clock.now + 2000
    assert [(one["kind"], one["outcome"], one["value"]) for one in shown["steps"]] == [
        ("sleep", "waits", shown["wakes"])
    ]
    toa_clock.set(toa_clock.now + 1)
    second = api.post(RUNS, {"endpoint": "components.desks.tend", "input": {"seconds": 9}}).json["run"]
    page = api.get(f"{RUNS}?limit=1&endpoint=components.desks.tend").json
    assert [one["id"] for one in (*page["items"], *api.get(page["next"]).json["items"])] == [shown["id"], second]
    toa_clock.advance("2s")
    assert api.get(place).json["state"] == "made"
    assert api.post(f"{place}cancel/").json == {"answer": "already made"}
    assert api.post(f"{RUNS}{second}/cancel/").json == {"answer": "being cancelled"}
    toa_clock.run_until_idle()
    over = api.get(f"{RUNS}?ended=true").json["items"]
    assert [(one["id"], one["state"], one["error"]) for one in over] == [
        (second, "cancelled", "by operator"),
        (shown["id"], "made", ""),
    ]
    assert [one["id"] for one in api.get(f"{RUNS}?ended=true&outcome=made").json["items"]] == [shown["id"]]


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"endpoint": "no.such.thing"}, "/endpoint"),
        ({"endpoint": "components.desks.stamp"}, "/endpoint"),
        ({"endpoint": "components.desks.tend", "input": {"seconds": "x"}}, "/seconds"),
        ({"endpoint": "components.desks.tend", "input": {"seconds": 1}, "key": "k" * 192}, "/key"),
        ({"endpoint": "components.desks.tend", "input": {"seconds": 1}, "colour": "red"}, "/colour"),
        ({}, ""),
        (None, ""),
    ],
)
def test_an_operator_is_told_what_of_a_start_does_not_fit(toa_clock, body, pointer):
    refused = operator("toa.start_run").post(RUNS, body).problem()

    assert refused["status"] == 400 and pointer in {one["pointer"] for one in refused["errors"]}
    assert not Run.objects.exists()


def test_a_failed_run_is_retried_and_let_go(broken, toa_clock):
    api = operator("toa.view_run", "toa.retry_failure", "toa.discard_failure")
    path = f"{RUNS}{broken}/"

    shown = api.get(path).json
    assert shown["state"] == "failed" and shown["failure"] is not None
    assert [one["id"] for one in api.get(f"{RUNS}?state=failed").json["items"]] == [broken]
    assert api.post(f"{path}retry/").json == {"answer": "tried again"}
    assert api.post(f"{path}retry/").problem()["status"] == 404
    toa_clock.run_until_idle()
    assert api.post(f"{path}discard/").json == {"answer": "discarded"}
    assert EndedRun.objects.get().outcome == "failed"


def test_the_steps_of_a_run_are_read_by_pages(toa_clock):
    async def looking(input: Any, context: Any) -> None:
        for _ in range(3):
            await time.now()
        await time.sleep("1h")

    sail.SCRIPTS["looking"] = looking
    place = f"{RUNS}{toa.start('components.voyages.sail', {'script': 'looking'})}/"
    toa_clock.run_until_idle()
    api = operator("toa.view_run")

    first = api.get(f"{place}?limit=2").json
    second = api.get(first["next"]).json
    assert [[step["position"] for step in one["steps"]] for one in (first, second)] == [[0, 1], [2, 3]]
    assert (first["next"], second["next"]) == (f"{place}?limit=2&after=1", None)
    assert second["steps"][-1]["outcome"] == "waits"
    for wrong in ("limit=0", "limit=1001", "after=-1", "after=x", "after=9999999999", "colour=red", "after=1&after=2"):
        assert api.get(f"{place}?{wrong}").problem()["status"] == 400


def test_reading_runs_costs_the_same_with_one_and_many(toa_clock, django_assert_num_queries):
    api = operator("toa.view_run")
    api.get(f"{RUNS}{NOBODY}/")
    runs = [toa.start("components.desks.tend", {"seconds": 1}) for _ in range(3)]
    # The session, its user, the two of permissions; then the page.
    for address, statements in ((f"{RUNS}?limit=1", 1), (RUNS, 1), (f"{RUNS}{runs[0]}/", 3)):
        with django_assert_num_queries(4 + statements):
            assert api.get(address).status == 200
