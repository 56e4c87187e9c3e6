"""The protocols of `toa.typing` have the members that contexts, drafts, records and locks really have."""

from __future__ import annotations

import inspect

import pytest

import toa.typing as protocols
from toa.core.draft import Draft
from toa.core.query import KEYS
from toa.core.record import Record
from toa.runtime import context, delaying
from toa.runtime.locking import Held

_ONLY_TO_REFUSE = {"call", "local", "lock", "remote"}
"""A transition has these to say that it calls nothing."""


def public(kind: type) -> set[str]:
    """Names of the methods, properties and annotated attributes of a class, its bases included."""
    return {name for name, _ in inspect.getmembers(kind) if not name.startswith("_")}


@pytest.mark.parametrize(
    ("protocol", "kind", "beside"),
    [
        (protocols.DecidingContext, context.TransitionContext, _ONLY_TO_REFUSE),
        (protocols.ReadingContext, context.CallingContext, set()),
        (protocols.ActingContext, context.EffectContext, set()),
        (protocols.IntendedDelays, context.Delays, set()),
        (protocols.StoredDelays, delaying.Delays, {"send"}),
        (protocols.HeldLock, Held, {"lease_ms", "release", "renew"}),
    ],
)
def test_a_protocol_names_what_is_there(protocol, kind, beside):
    assert public(protocol) == public(kind) - beside


@pytest.mark.parametrize(
    ("protocol", "kind"),
    [
        (protocols.DecidingContext, context.TransitionContext),
        (protocols.ActingContext, context.EffectContext),
        (protocols.IntendedDelays, context.Delays),
        (protocols.StoredDelays, delaying.Delays),
    ],
)
def test_the_parameters_of_a_protocols_methods_are_those_that_are_taken(protocol, kind):
    for name in {"__call__", *public(protocol)} & set(vars(kind)):
        real = inspect.getattr_static(kind, name)
        if inspect.isfunction(real):
            promised = inspect.getattr_static(protocol, name)
            assert list(inspect.signature(promised).parameters) == list(inspect.signature(real).parameters), name


def test_items_and_drafts_are_the_mappings_they_say():
    assert public(protocols.Item) <= public(Record) & public(Draft)
    assert hasattr(Draft, "__setitem__")


def test_a_query_has_its_keys():
    assert protocols.Query.__annotations__.keys() == set(KEYS)
