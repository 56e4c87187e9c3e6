"""The OpenAPI document says what the API does, and is the one that is committed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from drf_spectacular.validation import validate_schema

from config.servers import CHECKOUT
from tests.rest.calling import Api
from toa.rest.pages import document
from toa.rest.routes import all_routes
from toa.rest.wire import written


def test_the_committed_document_is_the_one_that_the_project_gives(tmp_path: Path):
    """In a process of its own, with the settings of the project and not those of the tests."""
    target = tmp_path / "openapi.yaml"
    command = [sys.executable, "manage.py", "spectacular", "--validate", "--fail-on-warn", "--file", str(target)]
    own = {**os.environ, "DJANGO_SETTINGS_MODULE": "config.settings"}
    done = subprocess.run(command, cwd=CHECKOUT, env=own, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    assert target.read_text() == (CHECKOUT / "docs/openapi.yaml").read_text(), "make openapi"


def test_every_route_is_told_with_its_refusals():
    described = document()
    validate_schema(described)
    for route in all_routes():
        told = described["paths"][f"/api/{route.path}"][route.method.lower()]
        assert told["summary"] == route.endpoint
        assert ("422" in told["responses"]) is (bool(route.operation.errors) and not route.starts)
        assert ("202" in told["responses"]) is route.starts
        assert "500" in told["responses"] and "403" in told["responses"]
        assert ("requestBody" in told) is (route.operation.input is not None and not route.reads)


def test_an_owner_is_not_in_what_a_caller_sends():
    schemas = document()["components"]["schemas"]

    assert set(schemas["StoreOrdersCreateInput"]["required"]) == {"reference", "product", "quantity", "total"}
    assert "customer" not in schemas["StoreOrdersCreateInput"]["properties"]
    assert "customer" in schemas["StoreOrders"]["properties"]
    assert "CLOCK" not in schemas["ComponentsDesks"]["properties"]


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        (
            {"type": "number", "format": "decimal", "minimum": 0, "places": 3},
            {
                "type": "string",
                "format": "decimal",
                "pattern": r"^(0|[1-9][0-9]{0,16})(\.[0-9]{1,3})?$",
                "description": "An amount in plain digits, 20 in all, 3 after the point, minimum 0.",
            },
        ),
        (
            {"type": "number", "format": "decimal", "digits": 4, "places": 4, "description": "A share."},
            {"type": "string", "format": "decimal", "pattern": r"^-?0(\.[0-9]{1,4})?$", "description": "A share."},
        ),
        ({"$ref": "#/definitions/part"}, {"$ref": "#/components/schemas/Thingpart"}),
        ({"$ref": "#/properties/part"}, {}),
        (
            {"definitions": {"a": True}, "items": [{"type": "string"}], "additionalItems": False},
            {"prefixItems": [{"type": "string"}], "items": False},
        ),
        ({"properties": {"items": {"type": "null"}}}, {"properties": {"items": {"type": "null"}}}),
        ({"anyOf": [{"type": "null"}, {"$ref": "#/definitions/b"}]},
         {"anyOf": [{"type": "null"}, {"$ref": "#/components/schemas/Thingb"}]}),
    ],
)  # fmt: skip
def test_schemas_are_written_in_the_words_of_openapi(schema: Any, expected: Any):
    assert written(schema, "Thing") == expected


def test_the_document_and_the_page_are_for_whoever_is_logged_in(anna, nobody):
    for path in ("/api/toa/openapi.json", "/api/toa/api/"):
        assert nobody.get(path).problem()["status"] == 401
    assert anna.get("/api/toa/openapi.json").json["openapi"].startswith("3.1")


def test_the_page_holds_every_operation_and_asks_no_other_host(anna: Api):
    page = anna.client.get("/api/toa/api/", headers={"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"})
    text = page.content.decode()

    assert page.status_code == 200 and page["Content-Type"].startswith("text/html")
    assert all(f"/api/{route.path}" in text for route in all_routes())
    assert "<script" not in text and "http://" not in text and "https://" not in text


def test_the_committed_document_is_yaml_of_openapi_31():
    assert yaml.safe_load((CHECKOUT / "docs/openapi.yaml").read_text())["openapi"] == "3.1.1"
