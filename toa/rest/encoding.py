"""JSON on its way out. Bytes are made inside the view, so that a reply that is no JSON is a problem like any other."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

from django.http import HttpResponse
from django.utils.encoding import escape_uri_path

from toa.core.identity import plain

JSON = "application/json"


def encode(value: Any) -> bytes:
    """JSON in ASCII: decimals as text in plain digits. Raises TypeError and ValueError for what is not JSON."""
    # A lone surrogate, which a problem may have to repeat, cannot be written in UTF-8, but can in ASCII.
    return json.dumps(value, default=plain, separators=(",", ":"), allow_nan=False).encode()


def respond(value: Any, status: int = 200, headers: dict[str, str] | None = None, media: str = JSON) -> HttpResponse:
    """A response whose body is the value."""
    return HttpResponse(encode(value), status=status, headers=headers, content_type=media)


def address_below(path: str, identity: str | int) -> str:
    """The address of an object below that of its component, for a header: an id may be any text."""
    return f"{escape_uri_path(path)}{quote(str(identity), safe='')}/"


def nothing(status: int, headers: dict[str, str] | None = None) -> HttpResponse:
    """A response without a body, and so without a type of one."""
    response = HttpResponse(status=status, headers=headers)
    del response["Content-Type"]
    return response
