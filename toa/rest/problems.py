"""Every failure as problem details (RFC 9457), by one exception handler.

Members beside those of the RFC: `kind`, a word for programs; `errors`, pairs of JSON pointer and sentence; `parameter`,
`position` and `hint` of a query; `code` and `details` of a declared Error. A 500 holds an `instance` that stands in the
log beside the traceback, and nothing else about it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from http import HTTPStatus
from math import ceil
from typing import Any

from django.core.exceptions import PermissionDenied, SuspiciousOperation
from django.core.signals import got_request_exception
from django.http import Http404, HttpResponse
from rest_framework.exceptions import APIException, Throttled

from toa.core.error import Error
from toa.core.identity import uuid7
from toa.exceptions import (
    Conflict,
    InvalidInput,
    InvalidQuery,
    NotFound,
    OnceMismatch,
    OutcomeUnknown,
    PreconditionFailed,
    Transient,
)
from toa.rest.encoding import respond

PROBLEM = "application/problem+json"

logger = logging.getLogger("toa.rest")


class Malformed(Exception):
    """A body or a header that cannot be read at all. `members` are added to the problem."""

    def __init__(self, message: str, status: int = 400, **members: Any) -> None:
        super().__init__(message)
        self.status = status
        self.members = members


def problem(
    status: int, detail: str, kind: str, headers: Mapping[str, str] | None = None, **members: Any
) -> HttpResponse:
    """One problem. The title is the phrase of the status; members that are null are left out."""
    document = {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status, "detail": detail}
    document |= {"kind": kind, **{name: value for name, value in members.items() if value not in (None, "")}}
    return respond(document, status, dict(headers or {}), PROBLEM)


def refusal(endpoint: str, error: Error) -> HttpResponse:
    """A declared Error, which is a reply and not a failure."""
    return problem(
        422, f"{endpoint} refused: {error.code}", "refused", code=error.code, details=dict(error.details) or None
    )


def handle(error: Exception, context: Mapping[str, Any]) -> HttpResponse:
    """The response to an exception of any kind."""
    for kind, answer in _ANSWERS.items():
        if isinstance(error, kind):
            return answer(error)
    return _fault(error, context)


def _malformed(error: Malformed) -> HttpResponse:
    return problem(error.status, str(error), "malformed", **error.members)


def _input(error: InvalidInput) -> HttpResponse:
    errors = [{"pointer": pointer, "detail": detail} for pointer, detail in error.problems]
    return problem(400, error.message, "input", errors=errors or None, hint=error.hint)


def _query(error: InvalidQuery) -> HttpResponse:
    parameter = "criteria" if error.position is not None else None
    return problem(400, error.message, "query", parameter=parameter, position=error.position, hint=error.hint)


def _not_found(error: Exception) -> HttpResponse:
    # The same sentence for what never was, what is gone and what belongs to somebody else.
    return problem(404, "Nothing is found here.", "not-found")


def _precondition(error: PreconditionFailed) -> HttpResponse:
    return problem(412, error.message, "precondition")


def _conflict(error: Conflict) -> HttpResponse:
    return problem(409, error.message, "conflict", hint=error.hint)


def _once(error: OnceMismatch) -> HttpResponse:
    return problem(409, error.message, "once", hint=error.hint)


def _busy(error: Transient) -> HttpResponse:
    detail = "Something that this needs is not to be had at the moment; nothing is known to be wrong with the request."
    return problem(503, detail, "busy", {"Retry-After": "1"})


def _unknown_outcome(error: OutcomeUnknown) -> HttpResponse:
    return problem(503, "The call may or may not have taken effect.", "outcome-unknown", hint=error.hint)


def _forbidden(error: PermissionDenied) -> HttpResponse:
    return problem(403, "This is not allowed to you.", "forbidden")


def _suspicious(error: SuspiciousOperation) -> HttpResponse:
    return problem(400, "The request cannot be read.", "malformed")


def _framework(error: APIException) -> HttpResponse:
    headers: dict[str, str] = {}
    if header := getattr(error, "auth_header", None):
        headers["WWW-Authenticate"] = header
    if isinstance(error, Throttled) and error.wait is not None:
        headers["Retry-After"] = str(ceil(error.wait))
    status = int(error.status_code)
    return problem(status, str(error.detail), _KINDS.get(status, "framework"), headers)


_KINDS = {
    400: "malformed",
    401: "unauthenticated",
    403: "forbidden",
    404: "not-found",
    405: "method",
    406: "accept",
    415: "media-type",
    429: "throttled",
}
# The first that fits counts.
_ANSWERS: Mapping[type[Exception], Callable[[Any], HttpResponse]] = {
    Malformed: _malformed,
    InvalidInput: _input,
    InvalidQuery: _query,
    NotFound: _not_found,
    Http404: _not_found,
    PreconditionFailed: _precondition,
    Conflict: _conflict,
    OnceMismatch: _once,
    Transient: _busy,
    OutcomeUnknown: _unknown_outcome,
    PermissionDenied: _forbidden,
    SuspiciousOperation: _suspicious,
    APIException: _framework,
}


def _fault(error: Exception, context: Mapping[str, Any]) -> HttpResponse:
    identity = uuid7()
    request, view = context.get("request"), context.get("view")
    where = f"{getattr(request, 'method', '')} {getattr(request, 'path', '')}".strip()
    logger.error(
        "%s failed: problem %s", where, identity.hex, exc_info=error, extra={"action": "fault", "problem": identity.hex}
    )
    # Those who collect errors listen to this; without it they would see none of ours.
    got_request_exception.send(sender=type(view), request=getattr(request, "_request", None))
    return problem(
        500, "Something is wrong on our side. The log knows more, under this instance.", "fault",
        instance=f"urn:uuid:{identity}",
    )  # fmt: skip
