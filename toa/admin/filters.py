"""Filters of the lists. Their choices come from the manifests, never from a scan of the table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any

from django.contrib import admin
from django.contrib.admin.options import IncorrectLookupParameters
from django.db.models import QuerySet
from django.http import HttpRequest

from toa.admin.listing import now_expression
from toa.cadence.calls.due import known_endpoints
from toa.core.deadlines import CLOSED, DISCARDED, DRAINING, FAILED
from toa.core.specs import EntitySpec
from toa.manifests import registry
from toa.models import Component, Outcome
from toa.runtime import settings

Choices = list[tuple[str, str]]


class KnownFilter(admin.SimpleListFilter):
    """A filter that takes the values it offers and no other."""

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        value = self.value()
        if value is None:
            return queryset
        if value not in {choice for choice, _ in self.lookup_choices}:
            raise IncorrectLookupParameters
        return self.chosen(queryset, value)

    def chosen(self, queryset: QuerySet[Any], value: str) -> QuerySet[Any]:
        raise NotImplementedError


class DueFilter(KnownFilter):
    """By the moment that `field` holds."""

    title = "due"
    parameter_name = "due"
    field = "due_at"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        return [("overdue", "Overdue"), ("hour", "In the next hour")]

    def chosen(self, queryset: QuerySet[Any], value: str) -> QuerySet[Any]:
        now = now_expression()
        if value == "overdue":
            return queryset.filter(**{f"{self.field}__lte": now})
        return queryset.filter(**{f"{self.field}__gt": now, f"{self.field}__lte": now + timedelta(hours=1)})


class PulseDueFilter(DueFilter):
    """Of a pulse, the moment it is looked at next is its coming boundary."""

    field = "wake_at"


class DueOrParkedFilter(DueFilter):
    """Of deliveries, which are parked behind a failure: then they have no `wake_at`."""

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        return [*super().lookups(request, model_admin), ("parked", "Parked")]

    def chosen(self, queryset: QuerySet[Any], value: str) -> QuerySet[Any]:
        return queryset.filter(wake_at=None) if value == "parked" else super().chosen(queryset, value)


class ComponentFilter(KnownFilter):
    """By the component whose operation is called."""

    title = "component"
    parameter_name = "component"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        return [(locator, locator) for locator in sorted(registry.all())]

    def chosen(self, queryset: QuerySet[Any], value: str) -> QuerySet[Any]:
        return queryset  # by `endpoints_of`: each endpoint is a part of its own


class EndpointFilter(KnownFilter):
    """By the endpoint; where a component is chosen, only its own are offered."""

    title = "endpoint"
    parameter_name = "endpoint"
    template = "admin/toa/folded_filter.html"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        committed, leased = known_endpoints()
        component = request.GET.get(ComponentFilter.parameter_name)
        return [
            (endpoint, endpoint)
            for endpoint in sorted(committed + leased)
            if component in (None, endpoint.rpartition(".")[0]) or endpoint == self.value()
        ]

    def chosen(self, queryset: QuerySet[Any], value: str) -> QuerySet[Any]:
        return queryset  # by `endpoints_of`


def endpoints_of(chosen: Mapping[str, str]) -> list[str] | None:
    """The endpoints that the filters by component and endpoint leave; null where neither is chosen.

    An index gives the rows of one endpoint in order, not those of several.
    """
    endpoint, component = chosen.get(EndpointFilter.parameter_name), chosen.get(ComponentFilter.parameter_name)
    if component is None:
        return None if endpoint is None else [endpoint]
    if endpoint is not None:
        return [endpoint] if endpoint.rpartition(".")[0] == component else []
    # What it had before counts too: calls of a retired operation are still somewhere.
    stored = Component.objects.using(settings.alias()).filter(locator=component)
    ever = set(stored.values_list("operations", flat=True).first() or ())
    return [f"{component}.{name}" for name in sorted(ever.union(registry.component(component).operations))]


class StandingComponentFilter(ComponentFilter):
    """The same of pulses and schedules, which are few."""

    def chosen(self, queryset: QuerySet[Any], value: str) -> QuerySet[Any]:
        return queryset.filter(endpoint__startswith=f"{value}.")


class StandingFilter(KnownFilter):
    """Pulses and schedules by what holds them."""

    title = "state"
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        return [("active", "Active"), ("paused", "Paused"), ("retired", "Retired")]

    def chosen(self, queryset: QuerySet[Any], value: str) -> QuerySet[Any]:
        if value == "retired":
            return queryset.exclude(retired_at=None)
        here = queryset.filter(retired_at=None)
        return here.exclude(paused_at=None) if value == "paused" else here.filter(paused_at=None)


class SourceFilter(KnownFilter):
    """By what had the call made."""

    title = "source"
    parameter_name = "source"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        return [
            ("delay", "Delay"),
            ("send", "Send"),
            ("delivery", "Event"),
            ("pulse", "Pulse"),
            ("schedule", "Schedule"),
            ("deadline", "Deadline"),
            ("run", "Run"),
            ("step", "Effect of a run"),
        ]

    def chosen(self, queryset: QuerySet[Any], value: str) -> QuerySet[Any]:
        return queryset.filter(source=value)


class OutcomeFilter(KnownFilter):
    title = "outcome"
    parameter_name = "outcome"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        return [(one.value, str(one.label)) for one in Outcome]

    def chosen(self, queryset: QuerySet[Any], value: str) -> QuerySet[Any]:
        return queryset.filter(outcome=value)


class InstanceFilter(admin.ChoicesFieldListFilter):
    """By STATE of the instances of a component with deadlines: by the states there are, which nobody has to look up."""

    states = ((None, "Running"), *((state, state.capitalize()) for state in (FAILED, DRAINING, DISCARDED, CLOSED)))

    def choices(self, changelist: Any) -> Iterator[Any]:
        exact, null = self.lookup_kwarg, self.lookup_kwarg_isnull
        yield {
            "selected": self.lookup_val is None and self.lookup_val_isnull is None,
            "query_string": changelist.get_query_string(remove=[exact, null]),
            "display": "All",
        }
        for state, words in self.states:
            asked = {null: "True"} if state is None else {exact: state}
            yield {
                "selected": bool(self.lookup_val_isnull) if state is None else state in (self.lookup_val or ()),
                "query_string": changelist.get_query_string(asked, [null if state else exact]),
                "display": words,
            }


def _is_state(field: Any) -> bool:
    spec = getattr(field.model, "component", None)
    return spec is not None and spec.entity is not None and field.name == _state_field(spec.entity)


def _state_field(entity: EntitySpec) -> str | None:
    state = entity.system.get("STATE")
    return None if state is None else state.field


# Django would list the values that there are, which reads the whole table at each look.
admin.FieldListFilter.register(_is_state, InstanceFilter, take_priority=True)
