"""OpenAPI 3.1 from the manifests, through drf-spectacular."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import ComponentRegistry, ResolvedComponent

from toa.core.query import MAX_LIMIT
from toa.core.specs import EntitySpec, OperationType
from toa.rest.paging import PAGE
from toa.rest.problems import PROBLEM
from toa.rest.routes import Route, Subject
from toa.rest.starting import STARTED
from toa.rest.wire import entity_schema, property_schema, written
from toa.runtime.once import LONGEST_KEY

JSON = "application/json"

_POINTED = {
    "type": "object",
    "required": ["pointer", "detail"],
    "properties": {"pointer": {"type": "string"}, "detail": {"type": "string"}},
}
_PROBLEM = {
    "type": "object",
    "description": "Problem details (RFC 9457).",
    "required": ["type", "title", "status", "detail", "kind"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "kind": {"type": "string", "description": "What went wrong, in a word."},
        "instance": {"type": "string", "description": "Of a fault: what it is called in the log."},
        "errors": {"type": "array", "items": _POINTED, "description": "What does not fit, by JSON pointer."},
        "parameter": {"type": "string"},
        "position": {"type": "integer", "description": "Where in the criteria or the body, from 0."},
        "hint": {"type": "string"},
        "code": {"type": "string", "description": "Of a declared Error."},
        "details": {"description": "Of a declared Error."},
    },
}
_WORDS = {
    400: "The body, the query or a header does not hold.",
    401: "Nobody is logged in.",
    403: "This is not allowed to the caller.",
    404: "Nothing is found here.",
    405: "The path has no such method.",
    406: "JSON is not accepted.",
    409: "Another change is in the way.",
    412: "The object has another VERSION.",
    413: "The body is too long.",
    415: "The body is not JSON.",
    429: "Too many requests.",
    500: "A fault; the log knows it by its instance.",
    503: "Busy; try again.",
}
_AUDIENCES = {
    "anonymous": "Anybody may call it.",
    "authenticated": "Whoever is logged in may call it.",
    "owner": "Callers meet only objects of which they are the `{owner}`.",
    "permission": "Needs the permission to call it.",
}
PAGING: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "criteria": ("A condition in RSQL, as in `status==pending;total>=10.00`.", {"type": "string"}),
    "limit": ("How many at most.", {"type": "integer", "minimum": 1, "maximum": MAX_LIMIT, "default": PAGE}),
    "sort": ("Names of properties with commas; `-` before one reverses it.", {"type": "string"}),
    "projection": ("Names of properties with commas: what to give.", {"type": "string"}),
    "after": ("Where the page before ended; `next` holds it.", {"type": "string"}),
}


_IF_MATCH = {"type": "string", "pattern": r'^(\*|"(0|[1-9][0-9]{0,17})")$'}


class RouteSchema(AutoSchema):
    """What a view with `routes` says about one of its methods."""

    def get_operation(
        self, path: str, path_regex: str, path_prefix: str, method: str, registry: ComponentRegistry
    ) -> dict[str, Any]:
        return _Operation(self.view.routes[method], registry).document()


def problem_responses(registry: ComponentRegistry, *statuses: int) -> dict[str, Any]:
    """Responses with problem details."""
    content = {PROBLEM: {"schema": component(registry, "Problem", _PROBLEM)}}
    return {str(status): {"description": _WORDS[status], "content": content} for status in statuses}


def started(registry: ComponentRegistry) -> dict[str, Any]:
    """The response to the start of a run."""
    told = {JSON: {"schema": component(registry, "ToaStarted", STARTED)}}
    return {"202": {"description": "The run is started; nothing of it is done yet.", "content": told}}


def component(registry: ComponentRegistry, name: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """A reference to a schema that is written once."""
    one = ResolvedComponent(name=name, type=ResolvedComponent.SCHEMA, schema=dict(schema), object=name)  # type: ignore[no-untyped-call]
    registry.register_on_missing(one)
    return dict(one.ref)


def parameter(name: str, place: str, description: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """One parameter."""
    found = {"name": name, "in": place, "description": description, "schema": dict(schema)}
    return {**found, "required": True} if place == "path" else found


class _Operation:
    def __init__(self, route: Route, registry: ComponentRegistry) -> None:
        self.route = route
        self.registry = registry
        self.name = f"{route.component.label}_{route.operation.name}"
        self.title = "".join(part.title() for part in self.name.split("_"))

    def document(self) -> dict[str, Any]:
        route, spec = self.route, self.route.operation
        audience = _AUDIENCES[route.exposed.audience].format(owner=route.exposed.owner)
        suffix = {Subject.NOTHING: "", Subject.ONE: "_one", Subject.SET: "_set"}
        several = spec.query == "optional" and spec.scope != "entries"
        document: dict[str, Any] = {
            "operationId": self.name + (suffix[route.subject] if several else ""),
            "summary": route.endpoint,
            "description": f"{spec.description} {audience}".strip(),
            "tags": [route.component.locator],
            "parameters": self._parameters(),
            "responses": {**self._success(), **self._refused(), **self._problems()},
        }
        if not route.reads and route.operation.input is not None:
            schema = self._schema(f"{self.title}Input", route.input or {})
            document["requestBody"] = {"content": {JSON: {"schema": schema}}, "required": True}
        return document

    def _parameters(self) -> list[dict[str, Any]]:
        route, found = self.route, []
        observes = route.operation.type is OperationType.OBSERVATION
        if route.subject is Subject.ONE:
            identity = property_schema(self._entity().id) | {"type": "string"}
            found.append(parameter("id", "path", "Of the object.", identity))
            found.append(parameter("If-Match", "header", "The ETag that the object must have.", _IF_MATCH))
        if route.subject is Subject.ONE and observes:
            found.append(parameter("projection", "query", *PAGING["projection"]))
            found.append(parameter("If-None-Match", "header", "The ETag that is known already.", {"type": "string"}))
        if route.subject is Subject.SET:
            names = PAGING if observes else ("criteria", "limit", "sort")
            found += [parameter(name, "query", *PAGING[name]) for name in names]
        if route.operation.once_ms is not None or route.starts:
            words = "The same key gives the same reply: safe to send again."
            found.append(
                parameter(
                    "Idempotency-Key", "header", words, {"type": "string", "minLength": 1, "maxLength": LONGEST_KEY}
                )
            )
        return found

    def _success(self) -> dict[str, Any]:
        route, spec = self.route, self.route.operation
        if route.starts:
            return started(self.registry)
        inherited = spec.inherited and spec.module is None
        if route.reads and route.subject is Subject.SET:
            listed = {"type": "array", "items": self._object()} if inherited else self._reply()
            page = {"type": "object", "properties": {"items": listed, "next": {"type": ["string", "null"]}}}
            return {"200": {"description": "A page.", "content": {JSON: {"schema": page}}}}
        shown = self._object() if inherited and spec.name in ("observe", "ensure") else self._reply()
        done = {"description": "The reply.", "content": {JSON: {"schema": shown}}}
        if route.reads:
            return {"200": done | {"headers": _etag()}, "304": {"description": "It is as it was."}}
        if route.creates:
            return {"201": done}
        nothing = {"204": {"description": "Done; the reply is null."}}
        if inherited and spec.name in ("assign", "terminate"):
            return nothing
        return {"200": done, **nothing}

    def _refused(self) -> dict[str, Any]:
        codes = sorted(self.route.operation.errors)
        if not codes or self.route.starts:
            return {}
        refusal = {"allOf": [component(self.registry, "Problem", _PROBLEM), {"properties": {"code": {"enum": codes}}}]}
        words = f"Refused: {', '.join(codes)}."
        return {"422": {"description": words, "content": {PROBLEM: {"schema": refusal}}}}

    def _problems(self) -> dict[str, Any]:
        route = self.route
        statuses = [400, 401, 403, 404, 406, 429, 500, 503]
        if not route.reads:
            statuses += [409, 413, 415]
        if route.subject is Subject.ONE:
            statuses.append(412)
        return problem_responses(self.registry, *sorted(statuses))

    def _reply(self) -> dict[str, Any]:
        output = self.route.operation.output
        return {} if output is None else self._schema(f"{self.title}Reply", output)

    def _object(self) -> dict[str, Any]:
        title = "".join(part.title() for part in self.route.component.label.split("_"))
        return component(self.registry, title, entity_schema(self._entity()))

    def _schema(self, name: str, schema: Mapping[str, Any]) -> dict[str, Any]:
        for defined, part in schema.get("definitions", {}).items():
            component(self.registry, f"{name}{defined}", written(part, name))
        return component(self.registry, name, written(schema, name))

    def _entity(self) -> EntitySpec:
        entity = self.route.component.entity
        assert entity is not None
        return entity


def _etag() -> dict[str, Any]:
    return {"ETag": {"description": "The VERSION.", "schema": {"type": "string"}}}
