"""From a submitted form to a call, and from its reply to what the person is told."""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.contrib import messages
from django.core.signals import got_request_exception
from django.http import HttpRequest, HttpResponseRedirect
from django.utils.html import format_html

from toa.admin.entities.forms import CallForm
from toa.core.error import Error
from toa.core.identity import plain, uuid7
from toa.exceptions import CallError, OperationFault, OutcomeUnknown, PreconditionFailed, Transient
from toa.runtime.bindings import Component, Operation
from toa.runtime.calls import call
from toa.runtime.permissions import caller_of
from toa.runtime.table import State

if TYPE_CHECKING:
    from toa.admin.entities.pages import EntityAdmin

logger = logging.getLogger("toa.admin")

LONGEST_REPLY = 500
"""Characters of a reply that are shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """Which operation is asked for, and of which object; of none where it makes one."""

    component: Component
    operation: Operation
    row: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A form to show, or, after the call was made, where to go."""

    form: CallForm
    location: HttpResponseRedirect | None = None


def identity_of(component: Component, row: Any) -> Any:
    """The id of a row as drafts have it."""
    return component.table.identity(row.pk)


def answer(of: EntityAdmin, request: HttpRequest, asking: Asking) -> Answer:
    """Show the form, or make the call that it was filled in for."""
    state = _state(asking)
    if request.method != "POST":
        return Answer(form=CallForm(asking.operation, state))
    form = CallForm(asking.operation, state, request.POST)
    if not form.is_valid():
        return Answer(form=form)
    try:
        reply = _call(request, asking, form)
    except PreconditionFailed:
        return _changed_meanwhile(asking, form)
    except (CallError, Transient, OutcomeUnknown) as error:
        form.refuse(error)
        return Answer(form=form)
    except OperationFault as error:
        return _faulty(request, asking, form, error)
    if isinstance(reply, Error):
        form.refuse(reply)
        return Answer(form=form)
    return Answer(form=form, location=_made(of, request, asking, form, reply))


def _call(request: HttpRequest, asking: Asking, form: CallForm) -> Any:
    query = None
    if asking.row is not None:
        query = {"id": identity_of(asking.component, asking.row), "version": form.cleaned_data["seen"]}
    return call(
        asking.operation.endpoint,
        form.call_input(),
        query,
        once=form.cleaned_data.get("once") or None,
        caller=caller_of(request.user),
    )


def _changed_meanwhile(asking: Asking, form: CallForm) -> Answer:
    """Nothing was done, and nobody's change is overwritten: the person looks at what it is now and decides again."""
    state, seen = _state(asking), form.cleaned_data["seen"]
    if state is None:
        form.add_error(None, "Nothing was done: it is not there any more.")
        return Answer(form=form)
    form.add_error(
        None,
        f"Nothing was done: it changed while you looked, from version {seen} to {state['VERSION']}."
        " Below is what it is now. Submit again to call it all the same.",
    )
    form.look_again(state["VERSION"])
    asking.row.refresh_from_db()
    return Answer(form=form)


def _faulty(request: HttpRequest, asking: Asking, form: CallForm, error: OperationFault) -> Answer:
    """The operation broke its own declaration, so nothing was committed. What it did wrong is for those who read the
    log; the person gets the id under which it stands there."""
    endpoint, identity = asking.operation.endpoint, uuid7().hex
    logger.error(
        "%s failed: problem %s", endpoint, identity, exc_info=error, extra={"action": "fault", "problem": identity}
    )
    # Those who collect errors listen to this, and find the error where it is being handled.
    got_request_exception.send(sender=type(form), request=request)
    form.add_error(
        None, f"Nothing was done: {endpoint} broke its own declaration. The log knows more, under {identity}."
    )
    return Answer(form=form)


def _made(of: EntityAdmin, request: HttpRequest, asking: Asking, form: CallForm, reply: Any) -> HttpResponseRedirect:
    endpoint = asking.operation.endpoint
    told = f" Its reply: {_short(reply)}." if reply is not None else ""
    if asking.row is not None:
        state = _state(asking)
        version = state["VERSION"] if state is not None else None
        became = "nothing was to change" if version == form.cleaned_data["seen"] else f"it is at version {version} now"
        of.log_change(request, asking.row, f"Called {endpoint}; {became}.")
        messages.success(request, f"Called {endpoint}: {became}.{told}")
        return HttpResponseRedirect(of.page_of(identity_of(asking.component, asking.row)))
    identity = reply.get("id") if isinstance(reply, dict) else None
    row = None if identity is None else of.get_object(request, str(identity))
    if row is None:
        messages.success(request, f"Called {endpoint}.{told}")
        return HttpResponseRedirect(of.page_of(None))
    of.log_addition(request, row, f"Made by {endpoint}.")
    messages.success(request, format_html("Called {}: {} was made.", endpoint, row))
    return HttpResponseRedirect(of.page_of(identity))


def _state(asking: Asking) -> State | None:
    if asking.row is None:
        return None
    key = identity_of(asking.component, asking.row)
    return asking.component.table.fetch([key]).get(key)


def _short(reply: Any) -> str:
    text = json.dumps(reply, default=plain, ensure_ascii=False)
    return text if len(text) <= LONGEST_REPLY else f"{text[:LONGEST_REPLY]}…"
