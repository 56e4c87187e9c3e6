"""Request bodies: JSON read strictly and within bounds, whatever is sent."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, NoReturn

from rest_framework.parsers import BaseParser

from toa.rest.encoding import JSON
from toa.rest.problems import Malformed
from toa.rest.settings import option


class StrictJSONParser(BaseParser):
    """Reads `application/json`.

    Refused, with the place where there is one: names that stand twice, NaN and infinities however they are written,
    nesting without end, text that is not UTF-8, and bodies longer than the setting `MAX_BODY`.
    """

    media_type = JSON

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Mapping[str, Any] | None = None) -> Any:
        most = int(option("MAX_BODY"))
        try:
            # One byte more tells a body that is too long, which is not read to its end.
            body: bytes = stream.read(most + 1)
        except OSError:
            raise Malformed("the body broke off") from None
        if len(body) > most:
            raise Malformed(f"the body is longer than {most} bytes", 413)
        return decode(body)


def decode(body: bytes) -> Any:
    """The JSON value of a body. Raises Malformed."""
    try:
        return json.loads(
            body.decode("utf-8"), object_pairs_hook=_object, parse_constant=_constant, parse_float=_number
        )
    except UnicodeDecodeError as error:
        raise Malformed("the body is not UTF-8", position=error.start) from None
    except json.JSONDecodeError as error:
        raise Malformed(f"the body is not JSON: {error.msg}", position=error.pos) from None
    except RecursionError:
        raise Malformed("the body is nested too deeply") from None
    except ValueError as error:
        # An integer with more digits than Python converts.
        raise Malformed(f"the body is not JSON: {str(error).partition(';')[0]}") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise Malformed(f"the body names {name[:64]!r} twice in one object")
        found[name] = value
    return found


def _constant(text: str) -> NoReturn:
    raise Malformed(f"the body is not JSON: {text} is no number")


def _number(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise Malformed(f"the body holds the number {text[:32]}, which is out of range")
    return value
