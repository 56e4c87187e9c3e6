"""What the API is, for programs and for people: its OpenAPI document, and a page made of it without any script."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from drf_spectacular.generators import SchemaGenerator
from rest_framework.request import Request

from toa.rest.encoding import respond
from toa.rest.views import ApiView


class OpenApiView(ApiView):
    """The document, for whoever is logged in."""

    schema = None

    def check_permissions(self, request: Request) -> None:
        if not request.user or not request.user.is_authenticated:
            self.permission_denied(request)

    def get(self, request: Request) -> HttpResponse:
        return respond(document())


class PageView(OpenApiView):
    """The same to read, with every operation and what it takes and answers."""

    def get(self, request: Request) -> HttpResponse:
        described = document()
        tags: dict[str, list[dict[str, Any]]] = {}
        for operation in _operations(described):
            tags.setdefault(operation["tag"], []).append(operation)
        context = {"info": described["info"], "tags": sorted(tags.items()), "schemas": _schemas(described)}
        return render(request._request, "toa/rest/api.html", context)


def document() -> dict[str, Any]:
    """The OpenAPI document of the whole project."""
    generator = SchemaGenerator()  # type: ignore[no-untyped-call]
    found: dict[str, Any] = generator.get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    return found


def _operations(described: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
            yield {
                "tag": (operation.get("tags") or ["other"])[0],
                "method": method.upper(),
                "path": path,
                "id": operation["operationId"],
                "description": operation.get("description", ""),
                "parameters": operation.get("parameters", []),
                "body": None if body is None else _shown(body),
                "responses": [
                    {"status": status, "description": response["description"], "schema": _answer(response)}
                    for status, response in operation["responses"].items()
                ],
            }


def _answer(response: Mapping[str, Any]) -> str:
    """What a response holds; of problems nothing, which all look the same."""
    schema = response.get("content", {}).get("application/json", {}).get("schema")
    return _shown(schema) if schema else ""


def _schemas(described: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [(name, _shown(schema)) for name, schema in described.get("components", {}).get("schemas", {}).items()]


def _shown(schema: Any) -> str:
    return json.dumps(schema, indent=2, ensure_ascii=False, default=str)
