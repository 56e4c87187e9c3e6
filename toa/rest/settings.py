"""What a project may set under `TOA["REST"]`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.core.exceptions import ImproperlyConfigured

from toa.runtime import settings

DEFAULTS: Mapping[str, Any] = {"OWNER": "pk", "MAX_BODY": 1_048_576}
"""OWNER: the attribute of a user that is the caller's id in properties that `owner:` names; it must never change hands.
A property that refers to a model holds the primary key, whatever is set.
MAX_BODY: the longest body of a request, in bytes."""


def option(name: str) -> Any:
    """The project's value, or the default."""
    return options()[name]


def options() -> Mapping[str, Any]:
    """All values; refuses a name that is not known."""
    given: Mapping[str, Any] = settings.get("REST")
    unknown = sorted(set(given) - set(DEFAULTS))
    if unknown:
        raise ImproperlyConfigured(
            f"TOA['REST'] has unknown keys {', '.join(unknown)}; known are {', '.join(DEFAULTS)}"
        )
    return {**DEFAULTS, **given}
