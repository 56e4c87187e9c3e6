"""The project's settings: keys and values of `TOA`, cadences of the environment, values of configurations."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core import checks

from toa.cadence.declared import unfit
from toa.checks.ids import CADENCE, SETTINGS, SHARED_VARIABLE, UNFIT_CONFIGURATION, UNKNOWN_VARIABLE
from toa.core.nearest import did_you_mean
from toa.exceptions import InvalidConfiguration
from toa.manifests import registry
from toa.runtime.configuration import configuration_of, shared_variables, unknown_variables
from toa.runtime.settings import DEFAULTS


def check_settings(app_configs: Sequence[AppConfig] | None, **_: Any) -> list[checks.CheckMessage]:
    """The keys of `TOA`, and the kinds of their values."""
    return [
        checks.Error(message, hint=hint or None, obj="settings.TOA", id=SETTINGS) for message, hint in problems_of_toa()
    ]


def check_configuration(app_configs: Sequence[AppConfig] | None, **_: Any) -> list[checks.CheckMessage]:
    """Every component's configuration, as at its first use, and values for a component that is not there."""
    if list(problems_of_toa()):
        return []
    given, known = getattr(settings, "TOA", {}).get("CONFIGURATION", {}), registry.all()
    found: list[checks.CheckMessage] = [
        checks.Error(
            f"no component is called {locator!r}",
            hint=did_you_mean(str(locator), known) or None,
            obj="settings.TOA['CONFIGURATION']",
            id=UNFIT_CONFIGURATION,
        )
        for locator in given
        if locator not in known
    ]
    for spec in known.values():
        try:
            configuration_of(spec)
        except InvalidConfiguration as error:
            found += [
                checks.Error(text, hint=error.hint, obj=place, id=UNFIT_CONFIGURATION) for place, text in error.problems
            ]
    return found


def check_environment(app_configs: Sequence[AppConfig] | None, **_: Any) -> list[checks.CheckMessage]:
    """Environment variables that name no property, and names that stand for two."""
    found: list[checks.CheckMessage] = [
        checks.Error(
            f"the variable stands for {' and '.join(properties)}",
            hint="give one of the properties another name",
            obj=name,
            id=SHARED_VARIABLE,
        )
        for name, properties in shared_variables().items()
    ]
    found += [
        checks.Warning("no property is set by this variable", hint=hint or None, obj=name, id=UNKNOWN_VARIABLE)
        for name, hint in unknown_variables(os.environ)
    ]
    return found


def check_cadence(app_configs: Sequence[AppConfig] | None, **_: Any) -> list[checks.CheckMessage]:
    """The cadences that `TOA["CADENCE"]` puts in place of those of manifests."""
    if list(problems_of_toa()):
        return []
    return [
        checks.Error(one.message, hint=one.hint or None, obj="settings.TOA['CADENCE']", id=CADENCE) for one in unfit()
    ]


def problems_of_toa() -> Iterator[tuple[str, str]]:
    """What is wrong with the setting `TOA` itself: pairs of message and hint."""
    given = getattr(settings, "TOA", {})
    if not isinstance(given, Mapping):
        yield f"must be a mapping, not {type(given).__name__}", ""
        return
    for name, value in given.items():
        if name not in DEFAULTS:
            yield f"no key is called {name!r}", did_you_mean(str(name), DEFAULTS)
        else:
            problem = _value(name, value)
            if problem:
                yield f"{name} {problem}", ""


def _value(name: str, value: Any) -> str | None:
    """Why a setting may not have that value, or null. Its default says what kind it takes."""
    if name == "DATABASE":
        known = ", ".join(settings.DATABASES)
        return None if value in settings.DATABASES else f"names no database: {value!r} is none of {known}"
    if isinstance(DEFAULTS[name], bool):
        return None if isinstance(value, bool) else f"must be True or False, not {value!r}"
    if isinstance(DEFAULTS[name], int):
        whole = isinstance(value, int) and not isinstance(value, bool) and value >= 0
        return None if whole else f"must be a whole number from 0, not {value!r}"
    if isinstance(DEFAULTS[name], Mapping):
        return None if isinstance(value, Mapping) else f"must be a mapping, not {type(value).__name__}"
    return None
