"""JSON Schemas compiled for the runtime: inputs, outputs, rows and configuration pass through a `Checker`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from functools import cached_property, lru_cache
from typing import Any

from toa.core.specs import Schema
from toa.exceptions import InvalidInput
from toa.manifests.content import Pointer, Unfit
from toa.manifests.decimals import plain
from toa.manifests.engines import fast, prepare, thorough
from toa.manifests.normalise import normaliser
from toa.manifests.pointers import pointer
from toa.manifests.wording import sentence

MAX_PROBLEMS = 50
"""A report names this many problems; the rest of a hopeless value is not worth reading."""

_ONLY_NULL: Schema = {"type": "null"}


class Checker:
    """One schema, compiled. Make it with `compile_schema`; it is safe to share between threads."""

    def __init__(self, schema: Schema | None) -> None:
        self.schema: Schema = _ONLY_NULL if schema is None else schema
        self._prepared = prepare(self.schema)
        self._normalise = normaliser(self.schema)
        self._fits = fast(self._prepared)

    @cached_property
    def _reporter(self) -> Any:
        return thorough(self._prepared)

    def normalise(self, value: Any) -> Any:
        """The value in its one spelling: defaults filled in, decimals as `Decimal`, UUIDs as 32 hex digits.

        The very object comes back where nothing had to change; the given one is never changed. Raises InvalidInput for
        what no schema can allow (NUL characters, lone surrogates, NaN, integers beyond 64 bit, endless nesting) and for
        JSON numbers or too many places where a decimal stands.
        """
        try:
            return self._normalise(value, 0)
        except Unfit as unfit:
            raise _refusal("the value", [(pointer(path), message) for path, message in unfit.problems]) from None

    def is_valid(self, value: Any) -> bool:
        """Whether a normalised value fits. Never raises."""
        try:
            return self._fits(value)
        except ValueError:
            # What the compiled validator cannot read at all: a lone surrogate, a key that is no text.
            return False

    def problems(self, value: Any) -> list[tuple[str, str]]:
        """Why a normalised value does not fit: pairs of JSON pointer and sentence, in the order of the value."""
        found: dict[tuple[str, str], None] = {}
        for error in self._reporter.iter_errors(value):
            found[(pointer(error.absolute_path), sentence(error))] = None
            if len(found) >= MAX_PROBLEMS:
                break
        return sorted(found)

    def check(self, value: Any, what: str = "the input") -> Any:
        """The value, normalised, if it fits. Raises InvalidInput with all problems; `what` begins its message."""
        try:
            normalised = self._normalise(value, 0)
        except Unfit as unfit:
            raise _refusal(what, self._with_rest(unfit)) from None
        if self.is_valid(normalised):
            return normalised
        raise _refusal(what, self.problems(normalised))

    def _with_rest(self, unfit: Unfit) -> list[tuple[str, str]]:
        """What could not be read, and what else is wrong with the rest of the value."""
        unread: list[Pointer] = [path for path, _ in unfit.problems]
        found = [(pointer(path), message) for path, message in unfit.problems]
        places = {pointer(path) for path in unread}
        if all(path for path in unread):
            found += [problem for problem in self.problems(unfit.value) if problem[0] not in places]
        return found[:MAX_PROBLEMS]


def compile_schema(schema: Schema | None) -> Checker:
    """The checker of a schema; the same one for an equal schema. None: only null is accepted.

    Raises ValueError for a schema that does not hold. Those of a manifest have been checked when it was read.
    """
    return _compiled(json.dumps(schema, sort_keys=True, default=_fallback))


@lru_cache(maxsize=4096)
def _compiled(text: str) -> Checker:
    schema = json.loads(text)
    return Checker(schema)


def to_json(value: Any) -> Any:
    """Draft values and replies as JSON-ready data: a `Decimal` becomes text in plain digits, the rest stays.

    The very object comes back where nothing had to change.
    """
    if isinstance(value, Decimal):
        return plain(value)
    if isinstance(value, Mapping):
        entries = {key: to_json(part) for key, part in value.items()}
        same = isinstance(value, dict) and all(entries[key] is part for key, part in value.items())
        return value if same else entries
    if isinstance(value, (list, tuple)):
        items = [to_json(part) for part in value]
        return value if isinstance(value, list) and all(a is b for a, b in zip(items, value, strict=True)) else items
    return value


def _fallback(value: Any) -> Any:
    """Mappings of another kind than dict inside a schema."""
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"a {type(value).__name__} cannot stand in a JSON Schema")


def _refusal(what: str, problems: list[tuple[str, str]]) -> InvalidInput:
    place, message = problems[0] if problems else ("", "it does not fit its schema")
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return InvalidInput(f"{what} does not fit: {place + ': ' if place else ''}{message}{more}", problems=problems)
