"""Addresses of the project: the admin, the API, and one that says that it lives."""

from django.contrib import admin
from django.db import connection
from django.http import HttpRequest, HttpResponse
from django.urls import include, path
from django.views.generic import RedirectView


def alive(request: HttpRequest) -> HttpResponse:
    """For load balancers and containers: this process answers, and reaches the database."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return HttpResponse("ok", content_type="text/plain")


urlpatterns = [
    path("", RedirectView.as_view(pattern_name="admin:index"), name="home"),
    path("admin/", admin.site.urls),
    path("api/", include("toa.rest.urls")),
    path("alive/", alive, name="alive"),
]
