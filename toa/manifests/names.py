"""Which names may be given, and which are taken."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable

from toa.core.nearest import did_you_mean
from toa.core.specs import OperationType
from toa.manifests.place import Place
from toa.manifests.problems import WRONG_NAME

MAX_NAME = 63
"""PostgreSQL cuts longer identifiers, silently."""

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,62}")
_RULE = f"a letter, then up to {MAX_NAME - 1} letters, digits or _"
_CODE = re.compile(r"[A-Z][A-Z0-9_]{0,62}")
_MODEL = re.compile(r"[a-z][a-z0-9_]*\.[A-Za-z][A-Za-z0-9_]*", re.IGNORECASE)

DJANGO_NAMES = frozenset(
    [
        "DoesNotExist",
        "Meta",
        "MultipleObjectsReturned",
        "NotUpdated",
        "adelete",
        "arefresh_from_db",
        "asave",
        "check",
        "clean",
        "clean_fields",
        "date_error_message",
        "delete",
        "from_db",
        "full_clean",
        "get_constraints",
        "get_deferred_fields",
        "objects",
        "pk",
        "prepare_database_save",
        "refresh_from_db",
        "save",
        "save_base",
        "serializable_value",
        "unique_error_message",
        "validate_constraints",
        "validate_unique",
    ]
)
"""Attributes of a Django model that a field of the same name would hide."""

MAPPING_NAMES = frozenset({"get", "items", "keys", "values"})
"""Methods of a mapping: `entry.items` would be the method, not the property."""

OWN_NAMES = frozenset(
    [
        "clock",
        "clock_state",
        "component",
        "created_at",
        "deleted_at",
        "held_at",
        "operations",
        "timeout_at",
        "updated_at",
        "version",
    ]
)
"""Fields and attributes that toa puts on the model."""

SYSTEM_NAMES = ("CREATED", "UPDATED", "DELETED", "VERSION", "TIMEOUT", "STATE", "HELD", "CLOCK")


def name_problem(name: str) -> str | None:
    """Why a component, an operation, an event or a rule may not be called so, or null."""
    if not _NAME.fullmatch(name):
        return f"'{name}' is not a name: {_RULE}"
    if keyword.iskeyword(name):
        return f"'{name}' is a word of Python"
    return None


def property_problem(name: str) -> str | None:
    """Why a property may not be called so, or null."""
    problem = name_problem(name)
    if problem:
        return problem
    if name in SYSTEM_NAMES:
        return f"'{name}' is a system property"
    if "__" in name or name.endswith("_"):
        return f"'{name}' cannot be the name of a Django field: no __ inside, no _ at the end"
    if name in DJANGO_NAMES or name in MAPPING_NAMES:
        return f"'{name}' is a method of models or drafts"
    if name in OWN_NAMES:
        return f"'{name}' is taken by toa"
    return None


def code_problem(code: str) -> str | None:
    """Why an Error may not have that code, or null."""
    return None if _CODE.fullmatch(code) else f"'{code}' is not a code: capital letters, digits and _, a letter first"


def is_model(text: str) -> bool:
    """Whether text names a Django model as `app_label.Model`."""
    return _MODEL.fullmatch(text) is not None


def check_name(place: Place) -> bool:
    """Whether the key of a place may be a name; reports it where not."""
    problem = name_problem(place.name)
    if problem:
        place.error(problem, id=WRONG_NAME, key=True)
    return problem is None


def unknown(kind: str, name: str, known: Iterable[str]) -> tuple[str, str]:
    """Message and hint for a name that is not there: `no operation is called 'expires'`, `did you mean 'expire'?`."""
    return f"no {kind} is called '{name}'", did_you_mean(name, sorted(known))


def a_type(kind: OperationType) -> str:
    """The type of an operation with its article: `an effect`."""
    return f"{'an' if kind.value[0] in 'aeiou' else 'a'} {kind.value}"
