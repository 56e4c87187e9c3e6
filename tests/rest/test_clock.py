"""What operators see and do over HTTP: each list and action under its own permission."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import Permission, User

import toa
from tests.rest.calling import ABSENT, Api
from tests.rest.conftest import api_of
from toa.cadence.reports.deliveries import ORDER
from toa.core.cursor import encode_cursor
from toa.models import Delay, Delivery, Failure, Pulse, Schedule
from toa.rest.clock_actions import ACTIONS
from toa.rest.clock_lists import LISTINGS
from toa.rest.clock_views import HEALTH
from toa.workflow.actions import START

NOBODY = "0" * 32


def operator(*permissions: str) -> Api:
    """A user with these permissions alone."""
    api = api_of("operator")
    codenames = [name.removeprefix("toa.") for name in permissions]
    found = Permission.objects.filter(content_type__app_label="toa", codename__in=codenames)
    assert found.count() == len(codenames)
    User.objects.get(username="operator").user_permissions.set(found)
    return api


ROUTES: list[tuple[str, str, Any, str, int]] = [
    ("GET", "health/", ABSENT, HEALTH, 503),
    *(("GET", f"{one.name}/", ABSENT, one.permission, 200) for one in LISTINGS),
    *(("GET", f"{one.name}/{NOBODY}/", ABSENT, one.permission, 404) for one in LISTINGS if one.one),
    ("POST", "runs/", {"endpoint": "components.desks.tend", "input": {"seconds": 1}}, START, 202),
    *(
        ("POST", f"{one.listing}/{NOBODY}/{one.name}/", {"interval": 1} if one.input else ABSENT, one.permission, 404)
        for one in ACTIONS
    ),
]


@pytest.mark.parametrize(
    ("method", "path", "body", "permission", "status"), ROUTES, ids=[f"{r[0]} {r[1]}" for r in ROUTES]
)
def test_each_route_needs_its_own_permission(nobody, toa_clock, method, path, body, permission, status):
    path = f"/api/toa/{path}"
    without = operator()
    User.objects.filter(username="operator").update(is_staff=True)

    assert nobody.call(method, path, body).problem()["status"] == 401
    assert without.call(method, path, body).problem()["status"] == 403
    assert operator(permission).call(method, path, body).status == status


def test_actions_are_the_ones_written_here():
    assert {(one.listing, one.name): one.permission for one in ACTIONS} == {
        ("delays", "cancel"): "toa.cancel_delay",
        ("delays", "move"): "toa.move_delay",
        ("delays", "fire"): "toa.move_delay",
        ("pulses", "pause"): "toa.pause_pulse",
        ("pulses", "resume"): "toa.pause_pulse",
        ("pulses", "fire"): "toa.fire_pulse",
        ("schedules", "pause"): "toa.pause_schedule",
        ("schedules", "resume"): "toa.pause_schedule",
        ("schedules", "fire"): "toa.fire_schedule",
        ("failures", "retry"): "toa.retry_failure",
        ("failures", "discard"): "toa.discard_failure",
        ("events", "replay"): "toa.replay_delivery",
        ("runs", "cancel"): "toa.cancel_run",
        ("runs", "retry"): "toa.retry_failure",
        ("runs", "discard"): "toa.discard_failure",
    }


def test_delays_are_listed_by_pages_moved_and_cancelled(toa_clock):
    api = operator("toa.view_delay", "toa.move_delay", "toa.cancel_delay")
    ids = [toa.delay("store.orders.expire", {"input": {}}, interval=f"{hours}h", overdue=None) for hours in (1, 2, 3)]
    page = api.get("/api/toa/delays/?limit=2&endpoint=store.orders.expire").json

    assert [one["id"] for one in page["items"]] == ids[:2]
    assert page["items"][0]["due"] == toa_clock.now + 3_600_000
    assert [one["id"] for one in api.get(page["next"]).json["items"]] == ids[2:]
    assert api.post(f"/api/toa/delays/{ids[0]}/move/", {"interval": "5h"}).json == {"answer": "moved"}
    assert api.get(f"/api/toa/delays/{ids[0]}/").json["due"] == toa_clock.now + 5 * 3_600_000
    assert api.post(f"/api/toa/delays/{ids[1]}/cancel/").json == {"answer": "cancelled"}
    assert api.post(f"/api/toa/delays/{ids[1]}/cancel/").json == {"answer": "already cancelled"}
    assert {row.id.hex for row in Delay.objects.all()} == {ids[0], ids[2]}


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        (ABSENT, ""),
        ({}, ""),
        ({"interval": "soon"}, "/interval"),
        ({"interval": "1h", "at": 5}, ""),
        ({"at": "5"}, "/at"),
        ({"at": 10**18}, "/at"),
        ({"until": 5}, "/until"),
    ],
)
def test_a_move_to_no_moment_is_refused(toa_clock, body, pointer):
    identity = toa.delay("store.orders.expire", {"input": {}}, interval="1h", overdue=None)
    refused = operator("toa.move_delay").post(f"/api/toa/delays/{identity}/move/", body).problem()

    assert refused["status"] == 400 and pointer in {one["pointer"] for one in refused["errors"]}


@pytest.mark.parametrize(("model", "listing"), [(Pulse, "pulses"), (Schedule, "schedules")])
def test_pulses_and_schedules_are_paused_and_resumed(toa_clock, model, listing):
    row = model.objects.filter(retired_at=None).exclude(wake_at=None).first()
    kind = listing.removesuffix("s")
    api = operator(f"toa.pause_{kind}", f"toa.fire_{kind}", f"toa.view_{kind}")
    path = f"/api/toa/{listing}/{row.id}/"

    answers = [api.post(f"{path}{name}/").json["answer"] for name in ("pause", "pause", "resume", "resume", "fire")]
    assert answers == ["paused", "already paused", "resumed", "not paused", "fired"]
    assert row.id.hex in {one["id"] for one in api.get(f"/api/toa/{listing}/").json["items"]}


def test_a_failure_is_read_and_decided_once(toa_clock):
    toa.send("components.desks.stumble", {"input": {"over": "exception"}})
    toa_clock.advance("2m")
    failure = Failure.objects.get()
    api = operator("toa.view_failure", "toa.retry_failure", "toa.discard_failure")
    path = f"/api/toa/failures/{failure.id.hex}/"

    assert "hunter2" in api.get(path).json["traceback"]
    assert [one["id"] for one in api.get("/api/toa/failures/").json["items"]] == [failure.id.hex]
    assert api.post(f"{path}discard/").json == {"answer": "discarded"}
    assert api.post(f"{path}retry/").problem()["status"] == 404


def test_events_on_their_way_are_listed(anna, toa_clock):
    from tests.rest.calling import placed

    placed(anna, "A-1")
    api = operator("toa.view_delivery")

    assert {one["event"] for one in api.get("/api/toa/events/").json["items"]} == {"store.orders.created"}
    assert Delivery.objects.count() == len(api.get("/api/toa/events/?state=waiting").json["items"])
    assert api.get("/api/toa/events/?settled=true").json == {"items": [], "next": None}


def test_health_says_what_to_start(toa_clock):
    told = operator(HEALTH).get("/api/toa/health/")

    assert (told.status, told.json["health"]) == (503, "down")
    assert "start" in told.json["sentence"]


FORGED = encode_cursor(ORDER, {"due": 0, "id": "no uuid"})


@pytest.mark.parametrize(
    "query",
    [
        "delays/?endpoint=%00",
        "delays/?overdue=yes",
        "delays/?within=soon",
        "delays/?after=1-2",
        "delays/?after=9999999999999999999999-" + NOBODY,
        "delays/?limit=0",
        "delays/?colour=red",
        "deadlines/?after=x",
        "deadlines/?component=" + "x" * 201,
        "failures/?entity=%00",
        "failures/?after=-",
        "events/?state=lost",
        "events/?state=waiting&settled=true",
        f"events/?after={FORGED}",
        f"events/?settled=true&after={FORGED}",
        "pulses/?limit=x",
        "runs/?state=lost",
        "runs/?outcome=made",
        "runs/?ended=true&state=failed",
        "runs/?ended=true&outcome=skipped",
        "runs/?after=1",
        "runs/?ended=true&after=9999999999999999999999-" + NOBODY,
        "health/?verbose=1",
    ],
)
def test_a_list_asked_for_nonsense_refuses(toa_clock, query):
    api = operator(HEALTH, *{one.permission for one in LISTINGS})

    assert api.get(f"/api/toa/{query}").problem()["status"] == 400
