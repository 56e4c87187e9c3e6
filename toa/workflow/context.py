"""The context of a workflow: calls that are awaited, and nothing that a replay would give otherwise."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from toa.core.duration import parse_duration
from toa.core.identity import canonical, digest
from toa.core.record import Record
from toa.exceptions import InvalidInput, NotAllowedHere
from toa.runtime.bindings import Operation
from toa.runtime.calls import comparable
from toa.workflow.asking import Calling, Now
from toa.workflow.machine import Machine


class WorkflowContext:
    """What a workflow may ask for."""

    def __init__(self, operation: Operation, key: str, due: int, machine: Machine) -> None:
        self._operation = operation
        self._key = key
        self._due = due
        self._machine = machine

    def now(self) -> Now:
        """`await context.now()`: the present moment in epoch ms; see `toa.time.now`."""
        return Now()

    @property
    def due(self) -> int:
        """The moment in epoch ms that this run was planned for."""
        return self._due

    def after(self, duration: int | str) -> int:
        """A moment (epoch ms) counted from the one that this run was planned for; ms or text."""
        return self._due + parse_duration(duration)

    def id(self) -> str:
        """A new id as 32 hex digits: its own at each place of a run, and the same at every replay."""
        return self._machine.unique()[:32]

    def random(self) -> float:
        """A number from 0 to below 1: its own at each place of a run, and the same at every replay."""
        return int(self._machine.unique()[:13], 16) / 16**13

    @property
    def key(self) -> str:
        """The stable key of this run."""
        return self._key

    def key_for(self, name: str) -> str:
        """A stable key derived from this run's."""
        return digest(self._key, name)[:40]

    @property
    def configuration(self) -> Record:
        """The component's validated configuration."""
        return self._operation.component.configuration

    @property
    def logger(self) -> logging.LoggerAdapter[logging.Logger]:
        """A logger bound to endpoint and run; silent while the journal is replayed."""
        return _Logger(
            logging.getLogger(f"toa.operations.{self._operation.endpoint}"),
            {"endpoint": self._operation.endpoint, "call": self._key},
            self._machine,
        )

    def call(
        self, endpoint: str, input: Any = None, query: Mapping[str, Any] | None = None, *, once: str | None = None
    ) -> Calling:
        """`await context.call(endpoint, input, query)`: the reply of an operation. It is called once: a replay is given
        the same reply. An Error it replies with is returned, what it raises is raised."""
        if once is not None:
            raise NotAllowedHere("a step of a workflow takes no once key", hint="it is done once as it is")
        try:
            told = canonical([input, comparable(query)])
        except (TypeError, ValueError) as error:
            raise InvalidInput(f"the request to {endpoint} is no JSON: {error}") from error
        return Calling(name=str(endpoint), input=input, query=query, told=told)

    @property
    def local(self) -> WorkflowRemote:
        """The operations of this component: `await context.local.cancel(query={"id": …})`."""
        return WorkflowRemote(self, (self._operation.component.locator,))

    @property
    def remote(self) -> WorkflowRemote:
        """Any component: `await context.remote.fulfilment.stock.observe(query={"id": …})`."""
        return WorkflowRemote(self, ())


class WorkflowRemote:
    """A path of names that ends in a call: `remote.<namespace>.<component>.<operation>(…)`."""

    def __init__(self, context: WorkflowContext, path: tuple[str, ...]) -> None:
        self._context = context
        self._path = path

    def __getattr__(self, name: str) -> WorkflowRemote:
        return WorkflowRemote(self._context, (*self._path, name))

    def __call__(
        self, input: Any = None, query: Mapping[str, Any] | None = None, *, once: str | None = None
    ) -> Calling:
        return self._context.call(".".join(self._path), input, query, once=once)


class _Logger(logging.LoggerAdapter[logging.Logger]):
    """Says nothing about what was done before."""

    def __init__(self, logger: logging.Logger, extra: dict[str, object], machine: Machine) -> None:
        super().__init__(logger, extra)
        self._machine = machine

    def isEnabledFor(self, level: int) -> bool:
        return not self._machine.replaying and super().isEnabledFor(level)
