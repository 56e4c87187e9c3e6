"""Actions of operators on rows of a list or on one object's page: who may, what is asked first, what was done.

An action does nothing by itself: it calls one function of `toa.cadence.actions` or `toa.workflow.actions`, which
decides under a lock.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.admin.models import CHANGE, DELETION, LogEntry
from django.contrib.contenttypes.models import ContentType
from django.http import HttpRequest
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from toa.exceptions import NotFound, ToaError

logger = logging.getLogger("toa.admin")

PATIENCE_S = 20.0
"""After this long no further row of a selection is begun: each may wait some seconds for whoever holds it."""

NOT_TRIED = "not tried: those before took too long"
BROKE = "not done: an error, which is in the log"
GONE = "not there any more"


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What an action is about. `row` is null where it was gone already when the action was asked for."""

    pk: Any
    row: Any

    @property
    def label(self) -> str:
        return str(getattr(self.pk, "hex", self.pk)) if self.row is None else str(self.row)


Run = Callable[[Subject, str, Mapping[str, Any]], str]
"""Takes what it is about, who asks, and what the form gave; answers what it did, or why it did not."""


def _always(row: Any) -> bool:
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """One action."""

    name: str
    title: str
    permission: str
    run: Run
    done: Collection[str] | None = None
    """The answers that say that it was done; any other says why it was not. Null: all."""
    question: str = ""
    """Asked before it is done; empty where nothing is lost by it."""
    form: type[forms.Form] | None = None
    """What it has to be told."""
    removes: bool = False
    """Whether the row is gone afterwards."""
    offered: Callable[[Any], bool] = _always
    """Whether the page of a row offers it."""

    @property
    def asks(self) -> bool:
        """Whether there is a page before it is done."""
        return bool(self.question) or self.form is not None

    def succeeded(self, answer: str) -> bool:
        return self.done is None or answer in self.done


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What became of an action on one row."""

    subject: Subject
    answer: str
    level: int
    """Of `django.contrib.messages`."""


def perform(act: Act, subjects: Iterable[Subject], by: str, given: Mapping[str, Any]) -> list[Told]:
    """Do it to each by itself: what one answers keeps no other from its turn."""
    began = time.monotonic()
    told = []
    for subject in subjects:
        if time.monotonic() - began > PATIENCE_S:
            answer, level = NOT_TRIED, messages.WARNING
        else:
            answer, level = _one(act, subject, by, given)
        told.append(Told(subject=subject, answer=answer, level=level))
    return told


def _one(act: Act, subject: Subject, by: str, given: Mapping[str, Any]) -> tuple[str, int]:
    try:
        answer = act.run(subject, by, given)
    except NotFound as error:
        return str(error) or GONE, messages.WARNING
    except ToaError as error:
        return str(error), messages.ERROR
    except Exception:
        logger.exception("%s of %s broke", act.name, subject.label, extra={"action": act.name, "by": by})
        return BROKE, messages.ERROR
    return answer, messages.SUCCESS if act.succeeded(answer) else messages.WARNING


def log(act: Act, told: Sequence[Told], user: Any, model: type[Any]) -> None:
    """Write what was tried, and what became of it, to the log of the admin."""
    type_id = ContentType.objects.get_for_model(model, for_concrete_model=False).pk
    LogEntry.objects.bulk_create(
        LogEntry(
            user_id=user.pk,
            content_type_id=type_id,
            object_id=str(one.subject.pk),
            object_repr=one.subject.label[:200],
            action_flag=DELETION if act.removes else CHANGE,
            change_message=f"{act.title}: {one.answer}",
        )
        for one in told
        if one.answer != NOT_TRIED
    )


def report(request: HttpRequest, told: Sequence[Told]) -> None:
    """Tell the person, one message for each answer."""
    groups: dict[tuple[int, str], list[str]] = {}
    for one in told:
        groups.setdefault((one.level, one.answer), []).append(one.subject.label)
    for (level, answer), labels in groups.items():
        messages.add_message(request, level, _message(answer, labels))


def _message(answer: str, labels: Sequence[str]) -> SafeString:
    if len(labels) == 1:
        return format_html("{}: {}", answer, labels[0])
    each = format_html_join("", "<br>{}", ((one,) for one in labels))
    return format_html("{} × {}:{}", len(labels), answer, each)
