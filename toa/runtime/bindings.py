"""From specs to things that run: components bound to their model, operations to their function and checkers."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from functools import cache, cached_property
from typing import Any

from django.apps import apps

from toa.core.record import Record
from toa.core.specs import ComponentSpec, EventSpec, OperationSpec, OperationType, ReceiverSpec
from toa.manifests import registry
from toa.manifests.schemas import Checker, compile_schema
from toa.models import Entity
from toa.runtime import inherited
from toa.runtime.configuration import configuration_of
from toa.runtime.table import Table

Function = Callable[..., Any]


class Operation:
    """An operation ready to run."""

    def __init__(self, component: Component, spec: OperationSpec) -> None:
        self.component = component
        self.spec = spec
        self.endpoint = component.spec.endpoint(spec.name)

    @cached_property
    def function(self) -> Function:
        """The function of the operation's file, or the one that every component inherits."""
        if self.spec.module is None:
            return inherited.FUNCTIONS[self.spec.name]
        function: Function = getattr(importlib.import_module(self.spec.module), self.spec.type.value)
        return function

    @cached_property
    def input(self) -> Checker:
        return compile_schema(self.spec.input)

    @cached_property
    def output(self) -> Checker | None:
        """Null where the manifest declares none: any JSON is accepted."""
        return None if self.spec.output is None else compile_schema(self.spec.output)

    @property
    def writes(self) -> bool:
        """Whether toa commits for it, so that a call of it can be settled in the same transaction."""
        return self.spec.type in (OperationType.TRANSITION, OperationType.ASSIGNMENT)


class Receiver:
    """One receiver of an event, bound to its operation and its functions."""

    def __init__(self, operation: Operation, spec: ReceiverSpec) -> None:
        self.operation = operation
        self.spec = spec
        self.condition = _function(spec.module, spec.condition)
        self.request = _function(spec.module, spec.request)


class Event:
    """An event of a component with all who receive it, in any component."""

    def __init__(self, name: str, spec: EventSpec, receivers: tuple[Receiver, ...]) -> None:
        self.name = name
        self.spec = spec
        self.receivers = receivers
        self.condition = _function(spec.module, "condition", optional=True)
        self.payload = _function(spec.module, "payload", optional=True)


class Component:
    """A component ready to run."""

    def __init__(self, spec: ComponentSpec) -> None:
        self.spec = spec
        self.locator = spec.locator
        self.operations: Mapping[str, Operation] = {
            name: Operation(self, operation) for name, operation in spec.operations.items()
        }

    @cached_property
    def table(self) -> Table:
        """Raises LookupError for a component without an entity, or whose model is not defined."""
        if self.spec.entity is None:
            raise LookupError(f"{self.locator} has no entity")
        return Table(self.spec.entity, model_of(self.spec))

    @cached_property
    def entity_checker(self) -> Checker:
        assert self.spec.entity is not None
        return compile_schema(self.spec.entity.schema)

    @cached_property
    def configuration(self) -> Record:
        """Values of the environment over the settings over the defaults; raises InvalidConfiguration."""
        return configuration_of(self.spec)

    @cached_property
    def events(self) -> tuple[Event, ...]:
        """The events that somebody receives, in the order of the manifest; the inherited ones first."""
        received = _receivers()
        bound = []
        for name, spec in self.spec.events.items():
            event = f"{self.locator}.{name}"
            if event in received:
                bound.append(Event(name, spec, received[event]))
        return tuple(bound)


def model_of(spec: ComponentSpec) -> type[Entity]:
    """The Django model of a component with an entity."""
    for model in apps.get_models():
        # By package: the manifest may have been read again since the model was made.
        if issubclass(model, Entity) and model.component is not None and model.component.package == spec.package:
            return model
    raise LookupError(
        f"{spec.locator} has an entity but no model:"
        f" define `class {spec.name.title()}(Entity)` in {spec.package}.models"
    )


@cache
def component(locator: str) -> Component:
    """The component of that name; raises UnknownEndpoint with the nearest known name."""
    return Component(registry.component(locator))


@cache
def operation(endpoint: str) -> Operation:
    """The operation `namespace.component.name`; raises UnknownEndpoint with the nearest known name."""
    spec, found = registry.endpoint(endpoint)
    return component(spec.locator).operations[found.name]


def endpoints() -> list[str]:
    """Every endpoint that this code knows."""
    return [spec.endpoint(name) for spec in registry.all().values() for name in spec.operations]


def reset() -> None:
    """Forget everything bound, after manifests or code were read again."""
    for cached in (component, operation, _receivers):
        cached.cache_clear()


@cache
def _receivers() -> dict[str, tuple[Receiver, ...]]:
    found: dict[str, list[Receiver]] = {}
    for spec in registry.all().values():
        for receiver in spec.receivers:
            target = component(spec.locator).operations[receiver.operation]
            found.setdefault(receiver.event, []).append(Receiver(target, receiver))
    return {event: tuple(receivers) for event, receivers in found.items()}


def _function(module: str | None, name: str | None, *, optional: bool = False) -> Function | None:
    if module is None or name is None:
        return None
    loaded = importlib.import_module(module)
    return getattr(loaded, name, None) if optional else getattr(loaded, name)
