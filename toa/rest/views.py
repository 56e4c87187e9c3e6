"""The views: they read a request, call the operation, and write what it replied."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from django.db import transaction
from django.http import HttpRequest, HttpResponse
from rest_framework.request import Request
from rest_framework.views import APIView

from toa.core.calling import Call, fresh
from toa.core.error import Error
from toa.core.query import Query, read_id
from toa.core.specs import OperationType
from toa.exceptions import InvalidInput, InvalidQuery, NotFound, OperationFault
from toa.manifests.schemas import compile_schema
from toa.rest.audiences import Ownership, admits
from toa.rest.documenting import RouteSchema
from toa.rest.encoding import address_below, nothing, respond
from toa.rest.negotiation import RENDERERS, JsonOnly, etag_of, matches_none, required_version
from toa.rest.paging import (
    ONE,
    PAGE,
    SET,
    criteria_of,
    limit_of,
    next_page,
    parameters,
    projection_of,
    sort_of,
    trimmed,
)
from toa.rest.problems import Malformed, handle, refusal
from toa.rest.reading import StrictJSONParser
from toa.rest.routes import Route, Subject
from toa.rest.starting import start_for
from toa.runtime import bindings
from toa.runtime.bindings import Operation
from toa.runtime.calls import compute, execute, observe, perform
from toa.runtime.permissions import caller_of
from toa.runtime.requests import Request as Prepared
from toa.runtime.requests import prepare


class ApiView(APIView):
    """What every view under the API shares: JSON in and out, problems for failures, nothing by OPTIONS."""

    parser_classes: ClassVar[Any] = (StrictJSONParser,)
    renderer_classes: ClassVar[Any] = RENDERERS
    content_negotiation_class = JsonOnly
    permission_classes: ClassVar[Any] = ()
    metadata_class = None
    versioning_class = None
    http_method_names: ClassVar[list[str]] = ["get", "head", "post", "patch", "delete"]

    @classmethod
    def as_view(cls, **initkwargs: Any) -> Callable[..., HttpResponse]:
        """Outside of ATOMIC_REQUESTS: an operation opens its own transaction, an effect refuses another's."""
        view: Callable[..., HttpResponse] = transaction.non_atomic_requests(super().as_view(**initkwargs))
        return view

    @property
    def default_response_headers(self) -> dict[str, str]:
        # What one caller may see is no other's, and an ETag is asked about before it is used again.
        return {**super().default_response_headers, "Cache-Control": "private, no-cache"}

    def get_exception_handler(self) -> Callable[..., HttpResponse]:
        return handle

    def get_authenticate_header(self, request: HttpRequest) -> str | None:
        headers = (one.authenticate_header(request) for one in self.get_authenticators())
        return next((header for header in headers if header), None)

    def body(self, missing: Any = None) -> Any:
        """The JSON that was sent, or `missing` where there is no body."""
        length = self.request.META.get("CONTENT_LENGTH")
        # The framework takes a body of unknown length for none: a call without the input that was sent would be made.
        if not length and self.request._request.read(1):
            raise Malformed("the body does not say its length: send Content-Length")
        return missing if length in (None, "", "0") else self.request.data


class NothingHere(ApiView):
    """The answer to every path under the API that is no route."""

    authentication_classes: ClassVar[Any] = ()
    throttle_classes: ClassVar[Any] = ()
    schema = None

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        raise NotFound(request.path)


class OperationView(ApiView):
    """One path of a component. `routes` are its methods."""

    routes: ClassVar[Mapping[str, Route]] = {}
    schema = RouteSchema()

    @property
    def throttle_scope(self) -> str:
        """The endpoint, for rates of single operations."""
        route = self._route()
        return route.endpoint if route else ""

    def check_permissions(self, request: Request) -> None:
        route = self._route()
        if route is not None and not admits(request.user, route.component, route.exposed):
            self.permission_denied(request)

    def _route(self) -> Route | None:
        method = "GET" if self.request.method == "HEAD" else self.request.method
        return self.routes.get(method)

    def _answer(self, request: Request, id: str | None = None) -> HttpResponse:
        route = self._route()
        assert route is not None
        operation = bindings.operation(route.endpoint)
        given = parameters(request.query_params, _known(route))
        identity = _identity(operation, id)
        query, input = self._request(route, operation, given, identity)
        if route.starts:
            key = request.headers.get("Idempotency-Key")
            return respond(start_for(caller_of(request.user), route.endpoint, input, key), 202)
        call = fresh(route.endpoint, caller=caller_of(request.user), once=request.headers.get("Idempotency-Key"))
        if operation.writes:
            reply = execute(operation, input, query, call, once=request.headers.get("Idempotency-Key"))
            return refusal(route.endpoint, reply) if isinstance(reply, Error) else self._written(route, reply)
        if "Idempotency-Key" in request.headers:
            raise InvalidInput(f"{operation.endpoint} takes no Idempotency-Key")
        prepared = prepare(operation, input, query)
        reply = _run(operation, prepared, call)
        if isinstance(reply, Error):
            return refusal(route.endpoint, reply)
        return self._read(operation, given, prepared.query, reply) if route.reads else self._written(route, reply)

    def _request(
        self, route: Route, operation: Operation, given: Mapping[str, str], identity: Any
    ) -> tuple[dict[str, Any] | None, Any]:
        """Query and input of the call, held to what the caller owns."""
        query = self._query(route, operation, given, identity)
        input = self._input(route)
        if route.exposed.owner is None:
            return query, input
        entity = operation.component.table.entity
        owner = Ownership(self.request.user, entity.selectable()[route.exposed.owner])
        if query is not None:
            asked = criteria_of(given, entity)
            query = {**query, "criteria": owner.criteria(asked, identity)}
        return query, owner.input(input, route.operation, creates=route.creates)

    def _query(
        self, route: Route, operation: Operation, given: Mapping[str, str], identity: Any
    ) -> dict[str, Any] | None:
        if route.subject is Subject.NOTHING:
            return None
        entity = operation.component.table.entity
        if route.subject is Subject.ONE:
            version = required_version(self.request.headers, writes=not route.reads)
            read = projection_of(given, entity) if _reads(operation) else None
            return {"id": identity, "version": version, "projection": read}
        criteria_of(given, entity)
        return {
            "criteria": given.get("criteria"),
            "limit": limit_of(given, PAGE if route.reads else None),
            "sort": sort_of(given, entity),
            "after": given.get("after"),
            "projection": projection_of(given, entity) if _reads(operation) else None,
        }

    def _input(self, route: Route) -> Any:
        """The body; where there is none, an empty object for an operation that takes an input."""
        if route.reads:
            return None
        return self.body(None if route.operation.input is None else {})

    def _read(self, operation: Operation, given: Mapping[str, str], query: Query | None, reply: Any) -> HttpResponse:
        if query is None or query.id is None:
            path, written = self.request.path, self.request.query_params
            following = next_page(path, written, operation.component, query, reply) if query else None
            return respond({"items": trimmed(reply, given), "next": following})
        if reply is None:
            raise NotFound(operation.endpoint)
        etag = etag_of(reply)
        headers = {"ETag": etag} if etag else {}
        if etag and matches_none(self.request.headers, etag):
            return nothing(304, headers)
        return respond(trimmed(reply, given), headers=headers)

    def _written(self, route: Route, reply: Any) -> HttpResponse:
        headers: dict[str, str] = {}
        if etag := etag_of(reply):
            headers["ETag"] = etag
        if route.creates and isinstance(reply, Mapping) and isinstance(reply.get("id"), str | int):
            if "observe" in route.component.exposition and route.operation.name == "create":
                headers["Location"] = address_below(self.request.path, reply["id"])
            return respond(reply, 201, headers)
        if reply is None:
            return nothing(204, headers)
        return respond(reply, headers=headers)


def view_of(name: str, routes: Mapping[str, Route]) -> Callable[..., HttpResponse]:
    """The view of one path, with exactly the methods of its routes."""
    handlers = {method.lower(): OperationView._answer for method in routes}
    return type(name, (OperationView,), {"routes": routes, "__doc__": "", **handlers}).as_view()  # type: ignore[attr-defined, no-any-return]


def _known(route: Route) -> tuple[str, ...]:
    if route.subject is Subject.SET:
        return SET if route.operation.type is OperationType.OBSERVATION else ("criteria", "limit", "sort")
    return ONE if route.subject is Subject.ONE and route.operation.type is OperationType.OBSERVATION else ()


def _reads(operation: Operation) -> bool:
    return operation.spec.type is OperationType.OBSERVATION


def _identity(operation: Operation, text: str | None) -> Any:
    """The id of a path in the type of the entity's. One that cannot be an id belongs to no object."""
    if text is None:
        return None
    spec = operation.component.table.entity.id
    try:
        identity = read_id(text, spec)
    except InvalidQuery as error:
        raise NotFound(str(error)) from None
    # Of an associated object every id that fits reads as its blank.
    if not compile_schema(spec.schema).is_valid(identity):
        raise NotFound(text)
    return identity


def _run(operation: Operation, request: Prepared, call: Call) -> Any:
    """Run what writes nothing of its own. What it calls with an unfit request is its fault, not the caller's."""
    try:
        match operation.spec.type:
            case OperationType.OBSERVATION:
                return observe(operation, request, call)
            case OperationType.EFFECT:
                return perform(operation, request, call)
        return compute(operation, request, call)
    except (InvalidInput, InvalidQuery) as error:
        raise OperationFault(f"{operation.endpoint} called with an unfit request: {error}") from error
