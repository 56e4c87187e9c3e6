"""What a client accepts, and the headers by which it says what it saw and what it sent before."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from rest_framework.exceptions import NotAcceptable
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.renderers import JSONRenderer

from toa.exceptions import PreconditionFailed
from toa.rest.encoding import JSON
from toa.rest.problems import PROBLEM, Malformed

_ACCEPTED = ("*/*", "application/*", JSON, PROBLEM)
_ETAG = re.compile(r'(W/)?"([^"]*)"')
_VERSION = re.compile(r"0|[1-9][0-9]{0,17}")


class JsonOnly(BaseContentNegotiation):
    """There is JSON; whoever accepts none of it is told so. No parameter of the address decides."""

    def select_parser(self, request: Any, parsers: Sequence[Any]) -> Any:
        kind = (request.content_type or "").partition(";")[0].strip().lower()
        return next((parser for parser in parsers if parser.media_type == kind), None)

    def select_renderer(self, request: Any, renderers: Sequence[Any], format_suffix: str | None = None) -> Any:
        accepted = [part.partition(";")[0].strip().lower() for part in request.headers.get("Accept", "*/*").split(",")]
        if not any(kind in _ACCEPTED for kind in accepted):
            raise NotAcceptable()
        return renderers[0], JSON


RENDERERS = (JSONRenderer,)
"""For the framework's sake; responses are encoded by the views."""


def etag_of(reply: Any) -> str | None:
    """The ETag of an object: its VERSION. Null for a reply that has none."""
    version = reply.get("VERSION") if isinstance(reply, Mapping) else None
    return f'"{version}"' if isinstance(version, int) else None


def matches_none(headers: Mapping[str, str], etag: str) -> bool:
    """Whether the client says by If-None-Match that it has this already."""
    given = headers.get("If-None-Match", "")
    return given.strip() == "*" or any(f'"{value}"' == etag for _, value in _ETAG.findall(given))


def required_version(headers: Mapping[str, str], *, writes: bool) -> int | None:
    """The VERSION that the client asks for by If-Match; 0, "not written yet", by `If-None-Match: *` on a write.

    Raises PreconditionFailed for an ETag that is none of ours, Malformed for several, and for what is no ETag at all.
    """
    given = headers.get("If-Match", "").strip()
    if not given:
        return 0 if writes and headers.get("If-None-Match", "").strip() == "*" else None
    if given == "*":
        return None
    tags = _ETAG.findall(given)
    if len(tags) != 1:
        raise Malformed("If-Match takes one ETag here", parameter="If-Match")
    # Weak ETags never match: RFC 9110 compares strongly here.
    if tags[0][0] or not _VERSION.fullmatch(tags[0][1]):
        raise PreconditionFailed(f"no object has the ETag {given[:64]}")
    return int(tags[0][1])
