"""The addresses of the API: `path("api/", include("toa.rest.urls"))`."""

from __future__ import annotations

from collections.abc import Iterator

from django.urls import URLPattern, include, path, re_path

from toa.rest import clock_views
from toa.rest.pages import OpenApiView, PageView
from toa.rest.routes import Route, all_routes
from toa.rest.settings import options
from toa.rest.views import NothingHere, view_of


def operations() -> Iterator[URLPattern]:
    """A pattern for each path, with the methods that are exposed there."""
    options()  # a wrong key stops the start, not the first request
    found: dict[str, dict[str, Route]] = {}
    for route in all_routes():
        found.setdefault(route.path, {})[route.method] = route
    for address, routes in found.items():
        name = "".join(part.title() for part in address.replace("{id}", "one").split("/"))
        yield path(address.replace("{id}", "<str:id>"), view_of(f"{name}View", routes))


urlpatterns = [
    path("toa/", include(list(clock_views.patterns()))),
    path("toa/openapi.json", OpenApiView.as_view(), name="toa-openapi"),
    path("toa/api/", PageView.as_view(), name="toa-api"),
    *operations(),
    re_path("", NothingHere.as_view()),
]
