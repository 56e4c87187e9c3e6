"""From the bytes of an answer to what is taken from it: JSON that fits a schema, and nothing else.

Fields that nobody asked for fit, so that the other side may add some.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NoReturn

from shop.outside.problems import BadAnswer
from toa import InvalidInput
from toa.manifests.schemas import Checker


def refuse_unfit_headers(what: str, headers: Mapping[str, str], largest: int) -> None:
    """Look at what an answer says of itself, before any of it is read. Raises BadAnswer."""
    kind, _, parameters = headers.get("Content-Type", "").partition(";")
    kind = kind.strip().lower()
    if kind != "application/json" and not kind.endswith("+json"):
        raise BadAnswer(f"{what}: the answer is {_shown(kind) or 'of no type'}, not JSON")
    charset = parameters.partition("charset=")[2].strip('" ').lower()
    if charset not in ("", "utf-8", "utf8"):
        raise BadAnswer(f"{what}: the answer is in {_shown(charset)}, not in UTF-8")
    if headers.get("Content-Encoding", "identity").lower() != "identity":
        raise BadAnswer(f"{what}: the answer is compressed, which nobody asked for")
    length = headers.get("Content-Length", "")
    if length.isdigit() and int(length[:20]) > largest:
        raise BadAnswer(f"{what}: the answer is larger than {largest} bytes")


def document(what: str, body: bytes) -> dict[str, Any]:
    """The object that the bytes of an answer stand for. Raises BadAnswer."""
    try:
        text = body.decode()
    except UnicodeDecodeError as error:
        raise BadAnswer(f"{what}: the answer is not UTF-8 at byte {error.start}") from error
    try:
        value = json.loads(text, parse_constant=_no_figure)
    except (ValueError, RecursionError) as error:
        raise BadAnswer(f"{what}: the answer is not whole JSON: {_shown(str(error))}") from error
    if not isinstance(value, dict):
        raise BadAnswer(f"{what}: the answer is no object")
    return value


def checked(what: str, value: dict[str, Any], schema: Checker) -> dict[str, Any]:
    """The document, where it fits. Raises BadAnswer with the first place where it does not."""
    try:
        fitting: dict[str, Any] = schema.check(value)
    except InvalidInput as error:
        place, problem = error.problems[0]
        raise BadAnswer(f"{what}: in the answer {place or '/'}: {_shown(problem)}") from error
    return fitting


def _no_figure(name: str) -> NoReturn:
    raise ValueError(f"{name} is no figure")


def _shown(text: str) -> str:
    text = "".join(character if character.isprintable() else "?" for character in text)
    return text if len(text) <= 120 else f"{text[:119]}…"
