"""`toa/…` below the API: health, lists and actions for operators."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from django.db import DataError
from django.http import HttpResponse
from django.urls import URLPattern, path
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import ComponentRegistry
from rest_framework.request import Request

from toa.cadence.reports import health, reporting, status
from toa.exceptions import InvalidInput, InvalidQuery, ToaError
from toa.manifests.schemas import compile_schema
from toa.rest.clock_actions import ACTIONS, Action
from toa.rest.clock_lists import LISTINGS, Listing, Page
from toa.rest.documenting import JSON, PAGING, component, parameter, problem_responses, started
from toa.rest.encoding import respond
from toa.rest.paging import limit_of, parameters
from toa.rest.starting import ANY, start_any
from toa.rest.views import ApiView
from toa.rest.wire import written
from toa.workflow.actions import START

HEALTH = "toa.view_process"
"""The permission to read how it stands."""

_ID = parameter("id", "path", "Of the row.", {"type": "string"})
_NUMBER = re.compile(r"[0-9]{1,10}")
_PARTS = ("limit", "after")


class DocumentedSchema(AutoSchema):
    """What a view says about itself by `describe`."""

    def get_operation(
        self, path: str, path_regex: str, path_prefix: str, method: str, registry: ComponentRegistry
    ) -> dict[str, Any]:
        name, described = self.view.describe(registry)
        told = f"{described.pop('description', '')} Needs the permission `{self.view.needed()}`.".strip()
        document = {"operationId": f"toa_{name}", "tags": ["toa"], "description": told, **described}
        document["responses"].update(problem_responses(registry, 400, 401, 403, 404, 406, 429, 500))
        return document


class ClockView(ApiView):
    """A view for those with one permission."""

    permission: ClassVar[str] = ""
    schema = DocumentedSchema()

    def needed(self) -> str:
        """The permission for this request."""
        return self.permission

    def check_permissions(self, request: Request) -> None:
        if not request.user or not request.user.has_perm(self.needed()):
            self.permission_denied(request)


class HealthView(ClockView):
    permission = HEALTH

    def get(self, request: Request) -> HttpResponse:
        """How it stands; 503 where nothing that is due is made."""
        parameters(request.query_params, ())
        facts = status.read()
        judged = health.judge(facts)
        return respond(reporting.of_status(facts, judged), 503 if judged.level is health.Level.DOWN else 200)

    def describe(self, registry: ComponentRegistry) -> tuple[str, dict[str, Any]]:
        shown = {JSON: {"schema": {"type": "object"}}}
        answers = {
            "200": {"description": "Work is done, though perhaps late.", "content": shown},
            "503": {"description": "Nothing that is due is made.", "content": shown},
        }
        return "health", {"description": "How it stands, as facts and in a sentence.", "responses": answers}


class ListView(ClockView):
    listing: ClassVar[Listing]

    def get(self, request: Request) -> HttpResponse:
        given = parameters(request.query_params, (*self.listing.parameters, *self.listing.paging))
        self._check(given)
        items, after = self._read(given)
        following = request.query_params.copy()
        following["after"] = after
        return respond({"items": items, "next": f"{request.path}?{following.urlencode()}" if after else None})

    def _check(self, given: Mapping[str, str]) -> None:
        for name, schema in self.listing.parameters.items():
            try:
                if name in given:
                    compile_schema(schema).check(given[name], name)
            except InvalidInput as error:
                raise InvalidQuery(error.message) from None

    def _read(self, given: Mapping[str, str]) -> Page:
        limit = limit_of(given)
        assert limit is not None
        try:
            return self.listing.read(given, limit)
        except ToaError:
            raise
        except (DataError, ValueError) as error:
            if "after" not in given:
                raise
            # Marks are plain text: one that was made up may hold what the database cannot compare.
            raise InvalidQuery("after: this is no mark of a page") from error

    def describe(self, registry: ComponentRegistry) -> tuple[str, dict[str, Any]]:
        filters = [parameter(name, "query", "", schema) for name, schema in self.listing.parameters.items()]
        listed = {"type": "array", "items": {"type": "object"}}
        page = {"type": "object", "properties": {"items": listed, "next": {"type": ["string", "null"]}}}
        return self.listing.name, {
            "description": self.listing.description,
            "parameters": [*filters, *(parameter(name, "query", *PAGING[name]) for name in self.listing.paging)],
            "responses": {"200": {"description": "A page.", "content": {JSON: {"schema": page}}}},
        }


class RunsView(ListView):
    """The list of runs; a run is started by a POST, under a permission of its own."""

    def needed(self) -> str:
        return START if self.request.method == "POST" else super().needed()

    def post(self, request: Request) -> HttpResponse:
        """Answers with the id of the run, before anything of it was done."""
        parameters(request.query_params, ())
        run = start_any(self.body())
        return respond(run, 202, {"Location": f"{request.path}{run['run']}/"})

    def describe(self, registry: ComponentRegistry) -> tuple[str, dict[str, Any]]:
        if self.request.method != "POST":
            return super().describe(registry)
        return "runs_start", {
            "description": "Start a run of a workflow. With a key that was used before it starts nothing.",
            "requestBody": {"content": {JSON: {"schema": written(ANY)}}, "required": True},
            "responses": {
                **started(registry),
                **problem_responses(registry, 409, 413, 415, 503),
            },
        }


class RowView(ClockView):
    listing: ClassVar[Listing]

    def get(self, request: Request, id: str) -> HttpResponse:
        parameters(request.query_params, ())
        assert self.listing.one is not None
        return respond(self.listing.one(id))

    def describe(self, registry: ComponentRegistry) -> tuple[str, dict[str, Any]]:
        row = {"description": "The row.", "content": {JSON: {"schema": {"type": "object"}}}}
        return f"{self.listing.name}_one", {"parameters": [_ID], "responses": {"200": row}}


class PagedRowView(RowView):
    """One row with a page of what belongs to it."""

    def get(self, request: Request, id: str) -> HttpResponse:
        given = parameters(request.query_params, _PARTS)
        limit = limit_of(given)
        after = None if "after" not in given else _position(given["after"])
        assert limit is not None and self.listing.by_pages is not None
        row, end = self.listing.by_pages(id, limit, after)
        following = request.query_params.copy()
        following["after"] = str(end)
        return respond({**row, "next": None if end is None else f"{request.path}?{following.urlencode()}"})

    def describe(self, registry: ComponentRegistry) -> tuple[str, dict[str, Any]]:
        name, document = super().describe(registry)
        following = {"next": {"type": ["string", "null"]}}
        shown = {"type": "object", "properties": following}
        document["parameters"] += [parameter(one, "query", *PAGING[one]) for one in _PARTS]
        document["responses"]["200"] = {"description": "The row and a page.", "content": {JSON: {"schema": shown}}}
        return name, document


class ActionView(ClockView):
    action: ClassVar[Action]

    def post(self, request: Request, id: str) -> HttpResponse:
        """Answers what was done, or why it was not: of two who act at once the second is told so."""
        parameters(request.query_params, ())
        given = self.body()
        if self.action.input is None and given not in (None, {}):
            raise InvalidInput("this takes no input", problems=[("", "nothing is taken here")])
        return respond({"answer": self.action.act(id, request.user.get_username(), given)})

    def describe(self, registry: ComponentRegistry) -> tuple[str, dict[str, Any]]:
        action = self.action
        answer = {"type": "object", "required": ["answer"], "properties": {"answer": {"type": "string"}}}
        told = {JSON: {"schema": component(registry, "ToaAnswer", answer)}}
        done = {"description": "What was done, or why not.", "content": told}
        document: dict[str, Any] = {
            "parameters": [_ID],
            "responses": {"200": done, **problem_responses(registry, 409, 413, 415, 503)},
        }
        if action.input is not None:
            document["requestBody"] = {"content": {JSON: {"schema": written(action.input)}}, "required": True}
        return f"{action.listing}_{action.name}", document


_LISTS: Mapping[str, type[ListView]] = {"runs": RunsView}
"""Lists that can do more than be read."""


def patterns() -> Iterator[URLPattern]:
    """The addresses below `toa/`."""
    yield path("health/", HealthView.as_view(), name="toa-health")
    for listing in LISTINGS:
        named = {"permission": listing.permission, "listing": listing}
        yield path(f"{listing.name}/", _view(_LISTS.get(listing.name, ListView), listing.name, named))
        if listing.one is not None or listing.by_pages is not None:
            view = RowView if listing.by_pages is None else PagedRowView
            yield path(f"{listing.name}/<str:id>/", _view(view, listing.name, named))
    for action in ACTIONS:
        named = {"permission": action.permission, "action": action}
        yield path(f"{action.listing}/<str:id>/{action.name}/", _view(ActionView, action.name, named))


def _position(text: str) -> int:
    """The number that a page ended with. Raises InvalidQuery."""
    if not _NUMBER.fullmatch(text):
        raise InvalidQuery(f"after: {text[:64]!r} is no number of a page")
    return int(text)


def _view(base: type[ClockView], name: str, members: dict[str, Any]) -> Any:
    return type(f"{name.title()}{base.__name__}", (base,), {"__doc__": "", **members}).as_view()  # type: ignore[attr-defined]
