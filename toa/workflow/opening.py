"""The function of a run at its beginning, with its journal: ready to be driven, or only to be looked at."""

from __future__ import annotations

from toa.core.record import as_record
from toa.runtime import bindings, clock
from toa.workflow import rows
from toa.workflow.context import WorkflowContext
from toa.workflow.entries import Journal
from toa.workflow.machine import Machine, Memory
from toa.workflow.rows import Row


def opened(row: Row, woken: int, journal: Journal | None = None) -> Machine:
    """A run's function at its beginning, with its journal, which is read where it is not given.
    Raises whatever its code raises when it is loaded."""
    operation = bindings.operation(row.endpoint)
    memory = Memory(
        key=row.id.hex,
        due=row.due,
        journal=rows.journal_of(row) if journal is None else journal,
        waits=row.waits,
        watches=row.watches,
        cancel_at=row.cancel_at,
    )
    # The database said that it is due; this process's reading of the clock may be a few ms behind.
    machine = Machine(memory, lambda: max(clock.clock().now(), woken))
    input = operation.input.check(row.input)
    context = WorkflowContext(operation, row.id.hex, row.due, machine)
    machine.begin(operation.function(as_record(input), context))
    return machine
