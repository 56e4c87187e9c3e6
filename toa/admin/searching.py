"""Searches by id and by entity: exact, so that an index answers them."""

from __future__ import annotations

from uuid import UUID

from django.db.models import Q

from toa.manifests import registry


def by_identity(term: str, *fields: str) -> Q:
    """Rows with that UUID, in any of its spellings, in one of the fields. Empty where the term is no UUID."""
    identity = _identity(term)
    condition = Q()
    if identity is not None:
        for field in fields:
            condition |= Q(**{field: identity})
    return condition


def by_entity(term: str) -> Q:
    """Rows about an entity, given as `component:id`, or by its id alone, whichever component it is of."""
    locators, keys = named(term)
    return Q(entity__in=[f"{locator}:{key}" for locator in locators for key in keys])


def by_source(term: str) -> Q:
    """As `by_entity`, where the component is in `source` and the id in `source_id`."""
    locators, keys = named(term)
    return Q(source__in=locators, source_id__in=keys)


def by_target(term: str) -> Q:
    """As `by_entity`, where the component is in `receiver` and the id in `target`."""
    locators, keys = named(term)
    return Q(receiver__in=locators, target__in=keys)


def by_revised(term: str) -> Q:
    """As `by_entity`, where the component is in `component` and the id in `entity`."""
    locators, keys = named(term)
    return Q(component__in=locators, entity__in=keys)


def named(term: str) -> tuple[list[str], list[str]]:
    """The components that a search names, and the id in every way rows may have it."""
    locator, colon, key = term.partition(":")
    if colon:
        return [locator], _spellings(key)
    return sorted(name for name, spec in registry.all().items() if spec.entity is not None), _spellings(term)


def _spellings(key: str) -> list[str]:
    """The key as given, and, where it is a UUID, in the 32 hex digits that rows have."""
    identity = _identity(key)
    return [key] if identity is None or identity.hex == key else [key, identity.hex]


def _identity(term: str) -> UUID | None:
    try:
        return UUID(term)
    except ValueError:
        return None
