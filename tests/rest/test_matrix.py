"""Who gets what from every route: routes x callers, with the status each is answered by.

| caller | |
|---|---|
| anonymous | not logged in |
| without | logged in, with no permission, owner of nothing |
| with | the same with the permission of the route's operation |
| owner | whose object it is |
| other | owner of another object |
| staff | a member of staff, with no permission of his own |
"""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client

from tests.rest.calling import ABSENT, Api
from tests.rest.conftest import api_of
from toa.manifests import registry
from toa.models import Component
from toa.rest.routes import all_routes
from toa.runtime.permissions import permission_of

CALLERS = ("anonymous", "without", "with", "owner", "other", "staff")
DESK = "components/desks/{id}/"

MATRIX: dict[tuple[str, str], tuple[Any, tuple[int, ...]]] = {
    # route: body, then the status for each caller in their order
    ("POST", "components/desks/"): ({"title": "new"}, (401, 201, 201, 201, 201, 201)),
    ("GET", "components/desks/"): (ABSENT, (401, 200, 200, 200, 200, 200)),
    ("GET", DESK): (ABSENT, (401, 404, 404, 200, 404, 404)),
    ("PATCH", DESK): ({"title": "old"}, (401, 404, 404, 204, 404, 404)),
    ("DELETE", DESK): (ABSENT, (401, 403, 204, 403, 403, 403)),
    ("POST", f"{DESK}stamp/"): (ABSENT, (401, 403, 200, 403, 403, 403)),
    ("POST", "components/desks/audit/?limit=10"): ({"above": 1}, (401, 200, 200, 200, 200, 200)),
    ("POST", "components/desks/double/"): ({"n": 2}, (200, 200, 200, 200, 200, 200)),
    ("POST", "components/desks/stumble/"): ({"over": "nothing"}, (401, 204, 204, 204, 204, 204)),
    ("POST", "components/desks/tend/"): ({"seconds": 1}, (401, 202, 202, 202, 202, 202)),
    ("POST", "store/orders/"): (
        {"reference": "R", "product": "tea", "quantity": 1, "total": "1.00"},
        (401, 201, 201, 201, 201, 201),
    ),
    ("GET", "store/orders/"): (ABSENT, (401, 200, 200, 200, 200, 200)),
    # There is a desk of that id, and no order.
    ("GET", "store/orders/{id}/"): (ABSENT, (401, 404, 404, 404, 404, 404)),
    ("POST", "store/orders/{id}/cancel/"): ({"reason": "X"}, (401, 404, 404, 404, 404, 404)),
    # Not exposed, or not there.
    ("PATCH", "store/orders/{id}/"): ({"status": "approved"}, (405, 405, 405, 405, 405, 405)),
    ("DELETE", "store/orders/{id}/"): (ABSENT, (405, 405, 405, 405, 405, 405)),
    ("POST", "store/orders/{id}/approve/"): (ABSENT, (404, 404, 404, 404, 404, 404)),
    ("POST", "store/orders/expire/"): (ABSENT, (405, 405, 405, 405, 405, 405)),
    ("PUT", DESK): ({"title": "old"}, (405, 405, 405, 405, 405, 405)),
    ("OPTIONS", DESK): (ABSENT, (405, 405, 405, 405, 405, 405)),
    ("GET", "components/tallies/"): (ABSENT, (404, 404, 404, 404, 404, 404)),
    ("GET", "nothing/at/all/"): (ABSENT, (404, 404, 404, 404, 404, 404)),
    ("GET", ""): (ABSENT, (404, 404, 404, 404, 404, 404)),
}


@pytest.fixture
def desk(toa_clock: Any) -> str:
    return str(api_of("owner").post("/api/components/desks/", {"title": "a", "rank": 1}).json["id"])


@pytest.fixture
def callers(toa_clock: Any) -> dict[str, Api]:
    api_of("other").post("/api/components/desks/", {"title": "b", "rank": 2})
    people = {name: api_of(name) for name in CALLERS[1:]}
    User.objects.filter(username="staff").update(is_staff=True)
    return {"anonymous": Api(Client(raise_request_exception=False)), **people}


@pytest.mark.parametrize(("method", "path"), MATRIX, ids=[" ".join(route) for route in MATRIX])
@pytest.mark.parametrize("caller", CALLERS)
def test_every_route_answers_every_caller_as_written(desk, callers, caller, method, path):
    body, statuses = MATRIX[method, path]
    if caller == "with":
        names = Permission.objects.filter(content_type__app_label="components_desks")
        User.objects.get(username="with").user_permissions.set(names)

    answer = callers[caller].call(method, f"/api/{path.format(id=desk)}", body)

    assert answer.status == statuses[CALLERS.index(caller)], answer.response.content
    if answer.status >= 400:
        answer.problem()
    if answer.status == 401:
        assert answer.headers["WWW-Authenticate"].startswith("Basic")
    if answer.status == 405:
        assert method not in answer.headers["Allow"].split(", ")


def test_the_matrix_holds_every_route_of_its_components():
    written = {(method, path.partition("?")[0]) for method, path in MATRIX}
    of_these = {"components.desks", "store.orders"}
    exposed = {(route.method, route.path) for route in all_routes() if route.component.locator in of_these}

    assert exposed <= written


def test_a_list_shows_owners_their_own_and_others_nothing(desk, callers):
    assert [one["title"] for one in callers["owner"].get("/api/components/desks/").json["items"]] == ["a"]
    assert [one["title"] for one in callers["other"].get("/api/components/desks/").json["items"]] == ["b"]
    assert callers["staff"].get("/api/components/desks/").json == {"items": [], "next": None}


@pytest.mark.django_db
def test_every_operation_has_its_permission():
    found = {
        f"{label}.{codename}"
        for label, codename in Permission.objects.values_list("content_type__app_label", "codename")
    }
    expected = {permission_of(spec, name) for spec in registry.all().values() for name in spec.operations}

    assert expected <= found
    assert {"store_orders.call_cancel", "toa.call_components_couriers_book"} <= expected
    own = Permission.objects.get(codename="call_components_couriers_book")
    assert own.content_type.model_class() is Component


def test_nothing_is_exposed_unasked():
    assert all(route.operation.name in route.component.exposition for route in all_routes())
