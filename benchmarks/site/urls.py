"""toa's addresses, and those of the views that were written by hand."""

from django.urls import include, path

from benchmarks.site.by_hand import AddView, MeterView

urlpatterns = [
    path("api/", include("toa.rest.urls")),
    path("hand/<uuid:pk>/", MeterView.as_view()),
    path("hand/<uuid:pk>/add/", AddView.as_view()),
]
