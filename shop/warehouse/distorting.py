"""What a true answer is turned into by a fault."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from shop.warehouse.faults import Fault

HUGE = 200_000_000
"""Bytes of a document that is far too large."""
UNPACKED = 8_000_000
"""Bytes of a compressed document when it is unpacked."""
ELSEWHERE = "/elsewhere"
"""Where a redirect leads: whoever comes there is counted."""

JSON = "application/json; charset=utf-8"
_PIECE = b" " * 65_536
_PAGE = b"<!doctype html><title>Log in</title><h1>Your session has ended</h1><form>Name <input></form>"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What is sent."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=lambda: {"Content-Type": JSON})
    pieces: Iterator[bytes] | None = None
    """In place of the body: sent chunk by chunk, without a length."""
    sent: int | None = None
    """So many bytes of the body are sent; then the connection is closed."""


def plain(document: Any, status: int = 200, **headers: str) -> Answer:
    """An answer as it should be."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer(status=status, body=_json(document), headers={"Content-Type": JSON, **named})


def distorted(fault: Fault, document: dict[str, Any], kind: str) -> Answer:
    """The answer to a request of `kind` that meets a lie."""
    body = _json(document)
    match fault:
        case Fault.ABSURD:
            return plain(_with(document, kind, figure=-5, word="lost in space", reference=""))
        case Fault.TYPE:
            return plain(_with(document, kind, figure="a dozen", word=7, reference=["C1"]))
        case Fault.HALF:
            return Answer(body=body[: len(body) // 2])
        case Fault.CUT:
            return Answer(body=body, sent=len(body) // 2)
        case Fault.HTML:
            return Answer(body=_PAGE, headers={"Content-Type": "text/html; charset=utf-8"})
        case Fault.CHARSET:
            return Answer(body=_json({**document, "house": "Größe"}).decode().encode("latin-1"))
        case Fault.HUGE:
            return Answer(pieces=_padded(body, HUGE))
        case Fault.PACKED:
            packed = gzip.compress(b"".join(_padded(body, UNPACKED)), compresslevel=1)
            return Answer(body=packed, headers={"Content-Type": JSON, "Content-Encoding": "gzip"})
        case Fault.REDIRECT:
            return Answer(status=302, headers={"Location": ELSEWHERE})
    raise AssertionError(f"{fault} is no lie")


def _with(document: dict[str, Any], kind: str, *, figure: Any, word: Any, reference: Any) -> dict[str, Any]:
    """The document with one value in place of a true one: in the middle of a page, so that others are true."""
    if kind == "inventory":
        items = [dict(item) for item in document["items"]] or [{"product": "tea"}]
        items[len(items) // 2]["available"] = figure
        return {**document, "items": items}
    if kind in ("status", "pick"):
        return {**document, "status": word}
    return {kind: reference}


def _padded(body: bytes, size: int) -> Iterator[bytes]:
    """The document, after so much of nothing that it is `size` bytes long."""
    left = size - len(body)
    while left > 0:
        yield _PIECE[:left]
        left -= len(_PIECE)
    yield body


def _json(document: Any) -> bytes:
    return json.dumps(document, ensure_ascii=False).encode()
