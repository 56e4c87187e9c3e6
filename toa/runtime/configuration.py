"""The configuration of a component: the manifest's defaults, the project's settings, the environment.

The later of them counts. In the environment, `TOA_STORE_ORDERS_WINDOW` is the property `window` of `store.orders`:
`TOA`, the component's label and the property, joined by `_`, all capitals. A variable that is empty counts as not
set. What the property takes decides how its text is read:

- a property of type string, and a decimal, takes the text as it stands;
- a property of another type takes it as JSON: `5`, `true`, `["a"]`;
- a property without a type takes it as JSON where it is JSON, else as text.

A property that says `writeOnly: true` is a credential: its value is in no error, and a text is `Hidden`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from typing import Any

from toa.core.hidden import Hidden
from toa.core.nearest import nearest
from toa.core.record import Record, as_record
from toa.core.specs import ComponentSpec, Schema
from toa.exceptions import InvalidConfiguration, InvalidInput
from toa.manifests import registry
from toa.manifests.schemas import compile_schema
from toa.runtime import settings

PREFIX = "TOA"

_CLOSED: Schema = {"type": "object", "additionalProperties": False}


def configuration_of(spec: ComponentSpec, environ: Mapping[str, str] | None = None) -> Record:
    """The validated configuration of a component, with attribute access.

    Raises InvalidConfiguration where the settings or the environment do not fit the manifest; it names each value,
    and where that was given.
    """
    value = {**_set(spec), **_from_environment(spec, os.environ if environ is None else environ)}
    try:
        checked = compile_schema({**_CLOSED, **spec.configuration}).check(value)
    except InvalidInput as refusal:
        problems = [
            (_origin(spec, place, environ), f"{place or '/'}: {_told(spec, place, text)}")
            for place, text in refusal.problems
        ]
        # The refusal itself may repeat a credential, and would be in the traceback.
        raise _unfit(spec, problems) from None
    hidden = _hidden(spec)
    return Record(
        (name, Hidden(item) if name in hidden and isinstance(item, str) else item)
        for name, item in as_record(checked).items()
    )


def check_all(environ: Mapping[str, str] | None = None) -> None:
    """Check the configuration of every component. Raises InvalidConfiguration with the problems of all."""
    found: list[InvalidConfiguration] = []
    for spec in registry.all().values():
        try:
            configuration_of(spec, environ)
        except InvalidConfiguration as error:
            found.append(error)
    if found:
        problems = [problem for error in found for problem in error.problems]
        raise InvalidConfiguration("; ".join(error.message for error in found), problems=problems, hint=found[0].hint)


def variables(spec: ComponentSpec) -> dict[str, str]:
    """Name of the environment variable -> property, for each property of a component's configuration."""
    return {variable(spec, name): name for name in _properties(spec)}


def variable(spec: ComponentSpec, name: str) -> str:
    """The environment variable of one property: `TOA_STORE_ORDERS_WINDOW`."""
    return f"{PREFIX}_{spec.label}_{name}".upper()


def unknown_variables(environ: Mapping[str, str] | None = None) -> list[tuple[str, str]]:
    """Variables that begin as those of a component and name no property of it: pairs of name and hint."""
    given = os.environ if environ is None else environ
    components = {f"{PREFIX}_{spec.label}_".upper(): spec for spec in registry.all().values()}
    known = {name for spec in components.values() for name in variables(spec)}
    found = []
    for name in sorted(set(given) - known):
        prefix = max((prefix for prefix in components if name.startswith(prefix)), key=len, default=None)
        if prefix is not None:
            spec = components[prefix]
            found.append((name, _nearest(spec, name.removeprefix(prefix))))
    return found


def shared_variables() -> dict[str, list[str]]:
    """Variables that stand for more than one property -> those properties, as `store.orders.window`."""
    found: dict[str, list[str]] = {}
    for spec in registry.all().values():
        for name in _properties(spec):
            found.setdefault(variable(spec, name), []).append(f"{spec.locator}.{name}")
    return {name: properties for name, properties in found.items() if len(properties) > 1}


def _properties(spec: ComponentSpec) -> Mapping[str, Schema]:
    properties: Mapping[str, Schema] = spec.configuration.get("properties", {})
    return properties


def _hidden(spec: ComponentSpec) -> frozenset[str]:
    """The properties whose values are told to nobody."""
    return frozenset(name for name, schema in _properties(spec).items() if schema.get("writeOnly") is True)


def _told(spec: ComponentSpec, pointer: str, problem: str) -> str:
    name = pointer.removeprefix("/").partition("/")[0]
    return "what it holds does not fit" if name in _hidden(spec) else problem


def _nearest(spec: ComponentSpec, name: str) -> str:
    """A hint for the last part of a variable that names no property."""
    close = nearest(name, _properties(spec))
    if close is not None:
        return f"did you mean '{variable(spec, close)}'?"
    return f"there is {', '.join(variables(spec))}" if _properties(spec) else f"{spec.locator} has no configuration"


def _set(spec: ComponentSpec) -> Mapping[str, Any]:
    given = settings.get("CONFIGURATION").get(spec.locator, {})
    if not isinstance(given, Mapping):
        raise _unfit(spec, [(_setting(spec), f"must be a mapping, not {type(given).__name__}")])
    return given


def _from_environment(spec: ComponentSpec, environ: Mapping[str, str]) -> dict[str, Any]:
    found = {}
    problems = []
    for variable, name in variables(spec).items():
        text = environ.get(variable)
        if not text:
            continue
        try:
            found[name] = _read(text, _properties(spec)[name])
        except ValueError:
            shown = "what it holds" if name in _hidden(spec) else repr(text)
            problems.append((variable, f"{shown} is not JSON, and /{name} takes no text"))
    if problems:
        raise _unfit(spec, problems)
    return found


def _read(text: str, schema: Schema) -> Any:
    """The value that a text stands for. Raises ValueError where JSON is needed and it is none."""
    kinds = schema.get("type")
    if schema.get("format") == "decimal" or kinds == "string" or (isinstance(kinds, list) and "string" in kinds):
        return text
    try:
        return json.loads(text)
    except ValueError:
        if kinds is None:
            return text
        raise


def _origin(spec: ComponentSpec, pointer: str, environ: Mapping[str, str] | None) -> str:
    """Where the value at a JSON pointer was given."""
    name = pointer.removeprefix("/").partition("/")[0]
    given = os.environ if environ is None else environ
    if name in _properties(spec) and given.get(variable(spec, name)):
        return variable(spec, name)
    return _setting(spec)


def _setting(spec: ComponentSpec) -> str:
    return f"TOA['CONFIGURATION'][{spec.locator!r}]"


def _unfit(spec: ComponentSpec, problems: Iterable[tuple[str, str]]) -> InvalidConfiguration:
    found = tuple(problems)
    return InvalidConfiguration(
        "; ".join(f"{origin}: {text}" for origin, text in found),
        problems=found,
        hint=f"see `configuration` in {spec.path}",
    )
