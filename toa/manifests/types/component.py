"""The `types.py` of a component: everything that its manifest says about Python, as one module."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toa.core.specs import ComponentSpec, OperationType
from toa.manifests.types.annotations import Received
from toa.manifests.types.entity import write_entity
from toa.manifests.types.operations import write_operations
from toa.manifests.types.source import Module

FILENAME = "types.py"

_OWN = (
    "Changeset",
    "Configuration",
    "Context",
    "EffectContext",
    "Entry",
    "Local",
    "ObservationContext",
    "Operations",
    "State",
    "States",
    "Steps",
    "WorkflowContext",
)
_IMPORTED = (
    "ActingContext",
    "Awaitable",
    "Criteria",
    "DecidingContext",
    "Draft",
    "DurableContext",
    "Error",
    "Id",
    "Item",
    "Literal",
    "Mapping",
    "Names",
    "NotRequired",
    "Protocol",
    "Query",
    "ReadingContext",
    "Sequence",
    "TypeAlias",
    "TypedDict",
    "Union",
)


def types_of(spec: ComponentSpec) -> str:
    """The source of the component's `types.py`. Equal specs give equal text."""
    module = Module(
        doc=f"Types of {spec.locator}, written by `toa types`: change the manifest, not this.",
        taken={*_OWN, "Any", "Decimal", *_IMPORTED},
    )
    if spec.entity is not None:
        write_entity(module, spec.entity)
    _write_configuration(module, spec.configuration)
    write_operations(module, spec)
    workflows = any(operation.type is OperationType.WORKFLOW for operation in spec.operations.values())
    _write_contexts(module, workflows=workflows)
    return module.text()


def _write_configuration(module: Module, schema: Mapping[str, Any]) -> None:
    module.taken.discard("Configuration")
    Received(module).define(schema, "Configuration", "The component's configuration.")


def _write_contexts(module: Module, *, workflows: bool) -> None:
    module.use("typing", "Protocol")
    for name, base, arguments, doc in (
        ("Context", "DecidingContext", "Configuration", "Of a transition, an assignment or a computation."),
        ("ObservationContext", "ReadingContext", "Configuration, Local", "Of an observation."),
        ("EffectContext", "ActingContext", "Configuration, Local", "Of an effect."),
        *([("WorkflowContext", "DurableContext", "Configuration, Steps", "Of a workflow.")] if workflows else []),
    ):
        module.use("toa.typing", base)
        module.define(name, [f"{base}[{arguments}]", "Protocol"], doc, [])
