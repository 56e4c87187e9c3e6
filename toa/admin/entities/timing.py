"""The Time panel of an object's page: the moments ahead of it, what happened behind it, and why, in words."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any

from django.contrib import admin
from django.contrib.auth import get_user_model
from django.core.exceptions import ValidationError
from django.db.models import Model
from django.http import HttpRequest
from django.urls import reverse

from toa.admin import cells
from toa.admin.entities.calling import identity_of
from toa.admin.relative import relative
from toa.cadence.explaining.gathering import explain
from toa.cadence.explaining.telling import tell
from toa.cadence.explaining.timeline import Ahead, Behind, ahead, behind
from toa.core.clock import to_datetime
from toa.core.identity import plain
from toa.core.specs import PropertyType
from toa.models import Delay, Delivery, History, Run
from toa.runtime.bindings import Component
from toa.runtime.permissions import caller_of

LONGEST_VALUE = 120
"""Characters of a changed value that are shown."""
_PAGES: Mapping[str, type[Model]] = {"delay": Delay, "delivery": Delivery, "history": History, "run": Run}
Links = Callable[[str, str], str | None]
_CALLER = re.compile(r"user:(.+)")


def panel(component: Component, row: Any, site: admin.AdminSite, request: HttpRequest) -> dict[str, Any]:
    """What the template shows of an object's time. Its queries are bounded, however much waits or happened."""
    facts = explain(component.locator, str(identity_of(component, row)))
    past = behind(facts)
    people = _people(one.by for one in past)
    links = _links(site, request)
    return {
        "now": facts.now,
        "ahead": [_ahead(one, facts.now, links) for one in ahead(facts)],
        "behind": [_behind(component, one, facts.now, people, links) for one in past],
        "sentences": tell(facts),
        "kept": component.table.entity.history,
    }


def _ahead(one: Ahead, now: int, links: Links) -> dict[str, Any]:
    return {
        "moment": None if one.at is None else _moment(one.at, now, "late"),
        "kind": one.kind,
        "what": one.what,
        "endpoint": one.endpoint,
        "note": one.note,
        "url": links(one.kind, one.id),
    }


def _behind(component: Component, one: Behind, now: int, people: Mapping[str, str], links: Links) -> dict[str, Any]:
    return {
        "moment": _moment(one.at, now, "ago"),
        "endpoint": one.endpoint,
        "version": one.version,
        "by": people.get(one.by, one.by),
        "outcome": one.outcome,
        "reached": one.reached,
        "outside": one.outside,
        "changes": [(name, *(_value(component, name, value) for value in pair)) for name, pair in one.changes.items()],
        "url": links("history", one.call),
        "run_url": links("run", one.run),
    }


def _moment(moment: int, now: int, past: str) -> dict[str, Any]:
    """A moment for people, for machines, and for the script that counts down."""
    local = cells.local(to_datetime(moment))
    return {
        "ms": moment,
        "iso": local.isoformat(timespec="milliseconds"),
        "text": local.replace(tzinfo=None).isoformat(" ", timespec="seconds"),
        "relative": relative(moment, now, past),
        "late": moment <= now and past == "late",
    }


def _value(component: Component, name: str, value: Any) -> str:
    known = component.table.entity.selectable().get(name)
    if known is not None and known.type is PropertyType.MOMENT and isinstance(value, int):
        return str(cells.local(to_datetime(value)).replace(tzinfo=None).isoformat(" ", timespec="seconds"))
    text = value if isinstance(value, str) else json.dumps(value, default=plain, ensure_ascii=False)
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}…"


def _people(texts: Iterable[str]) -> dict[str, str]:
    """The names of the users that called, by what they are known by as callers."""
    users = get_user_model()
    keys = set()
    for text in texts:
        if found := _CALLER.fullmatch(text):
            with suppress(ValidationError):  # code may name a caller as it likes
                keys.add(users._meta.pk.to_python(found[1]))
    named = users._default_manager.filter(pk__in=keys) if keys else ()
    return {caller_of(user): user.get_username() for user in named}


def _links(site: admin.AdminSite, request: HttpRequest) -> Links:
    """Addresses of toa's own pages, by kind and id, as far as the person may see them."""

    def to(kind: str, identity: str) -> str | None:
        model = _PAGES.get(kind)
        registered = None if model is None else site._registry.get(model)
        if model is None or not identity or registered is None or not registered.has_view_permission(request):
            return None
        if model is History:
            return reverse("admin:toa_history_changelist", current_app=site.name, query={"q": identity})
        return reverse(f"admin:toa_{model._meta.model_name}_change", args=[identity], current_app=site.name)

    return to
