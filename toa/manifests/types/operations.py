"""The types around each operation: its input, its reply, and how it is called from Python."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from toa.core.specs import ComponentSpec, OperationSpec, OperationType, QueryRule, Schema, Scope
from toa.manifests.types.annotations import Given, Received, is_name, is_needed
from toa.manifests.types.entity import id_annotation
from toa.manifests.types.source import Module, camel, union

KEYWORDS = ("input", "once", "caller", "check")
"""Taken by `Order.operations.cancel(…)` itself; an input with such a property is given whole."""

_ONE = {"version": "int", "criteria": "Criteria"}
_MANY = {
    "criteria": "Criteria",
    "ids": "Sequence[Id]",
    "limit": "int",
    "offset": "int",
    "after": "str",
    "sort": "Names",
    "projection": "Names",
    "deleted": "bool",
}
QUERY = tuple({**_ONE, **_MANY})
"""The keywords that become a query."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Forms:
    """The annotations of one operation."""

    operation: OperationSpec
    given: str
    """Of its input, as a caller gives it."""
    reply: str
    """As a caller gets it, without an Error."""

    @property
    def answers(self) -> str:
        """The reply, or the Error that may come in its place."""
        return (
            "Any | Error"
            if self.reply == "Any" and self.operation.errors
            else (union([self.reply, "Error"]) if self.operation.errors else self.reply)
        )


def write_operations(module: Module, spec: ComponentSpec) -> None:
    """Define inputs, replies, `Local` and `Operations`; where there are workflows, `Steps`, which they await."""
    forms = [_forms(module, spec, operation) for operation in spec.operations.values()]
    # A workflow is started, not called.
    calls = [one for one in forms if one.operation.type is not OperationType.WORKFLOW]
    if any(one.operation.errors for one in calls):
        module.use("toa", "Error")
    module.use("typing", "Protocol")
    local = [_local(module, one, one.answers) for one in calls]
    module.define("Local", ["Protocol"], "The operations of this component, as `context.local` has them.", local)
    if len(calls) < len(forms):
        module.use("collections.abc", "Awaitable")
        steps = [_local(module, one, f"Awaitable[{one.answers}]", awaited=True) for one in calls]
        module.define("Steps", ["Protocol"], "The same, as `context.local` of a workflow has them.", steps)
    called = [member for one in calls for member in _from_model(module, spec, one)]
    module.define("Operations", ["Protocol"], "The operations of this component, as its model has them.", called)


def _forms(module: Module, spec: ComponentSpec, operation: OperationSpec) -> Forms:
    name = camel(operation.name)
    given = "None"
    if operation.input is not None:
        _named(Received(module), operation.input, f"{name}Input", f"What {operation.name} gets.")
        given = _named(Given(module), operation.input, f"{name}Arguments", f"What {operation.name} is given.")
    if operation.output is not None:
        _named(Given(module), operation.output, f"{name}Output", f"What {operation.name} returns.")
        reply = _named(Received(module), operation.output, f"{name}Reply", f"What {operation.name} answers.")
    else:
        reply = _undeclared(module, spec, operation)
    return Forms(operation=operation, given=given, reply=reply)


def _named(annotations: Received | Given, schema: Schema, name: str, doc: str) -> str:
    """The annotation of a schema. It can be imported by its name, whatever it is."""
    if schema.get("type") == "object" and schema.get("properties"):
        annotation = annotations.define(schema, name, doc)
        if annotation.startswith(name):
            return annotation
    else:
        annotation = annotations.of(schema, f"{name}Value")
    return annotations.module.alias(name, annotation)


def _undeclared(module: Module, spec: ComponentSpec, operation: OperationSpec) -> str:
    """The reply of an operation without `output`: known for what is inherited, else anything."""
    if operation.inherited and operation.module is None and spec.entity is not None:
        # Also of an associated component: a terminated object, and one that criteria exclude, read as null.
        return {"observe": "State | None", "enumerate": "States", "ensure": "State"}.get(operation.name, "None")
    module.use("typing", "Any")
    return "Any"


def _local(module: Module, form: Forms, returns: str, *, awaited: bool = False) -> list[str]:
    operation = form.operation
    parameters = ["self", "input: None = None" if operation.input is None else f"input: {form.given}"]
    if operation.query is not QueryRule.ABSENT:
        module.use("toa.typing", "Query")
        needed = operation.query is QueryRule.REQUIRED or operation.scope is Scope.ENTRIES
        if needed and operation.input is None:
            parameters.append("*")
        parameters.append("query: Query" if needed else "query: Query | None = None")
    if operation.once_ms is not None and not awaited:
        parameters += [*([] if "*" in parameters else ["*"]), "once: str | None = None"]
    return module.method(operation.name, parameters, returns)


def _from_model(module: Module, spec: ComponentSpec, form: Forms) -> list[list[str]]:
    """`Order.operations.cancel(id, reason="…")`, with and without `check=True`."""
    operation = form.operation
    words = _words(module, form)
    positional = ["self"]
    if spec.entity is not None and operation.query is not QueryRule.ABSENT and operation.scope is not Scope.ENTRIES:
        kind = id_annotation(module, spec.entity)
        optional = "" if operation.query is QueryRule.REQUIRED else " | None = None"
        # An input with an `id` of its own is given by keyword, so that this one has its place alone.
        taken = any(word.startswith("id:") for word in words)
        positional += [f"identity: {kind}{optional}", "/"] if taken else [f"id: {kind}{optional}"]
    queried = _query_words(module, operation)
    once = ["once: str | None = None", 'caller: str = ""'] if operation.once_ms is not None else []
    keywords = [*words, *queried, *once]
    star = ["*"] if keywords else []
    if not operation.errors:
        return [module.method(operation.name, [*positional, *star, *keywords], form.reply)]
    module.use("typing", "Literal", "overload")
    asked = [*positional, "*", *keywords]
    return [
        module.method(operation.name, [*asked, "check: Literal[True]"], form.reply, overload=True),
        module.method(operation.name, [*asked, "check: bool = False"], form.answers, overload=True),
    ]


def _words(module: Module, form: Forms) -> list[str]:
    """The input as keywords: those that are needed first."""
    schema = form.operation.input
    if schema is None:
        return []
    properties: Mapping[str, Schema] = schema.get("properties", {})
    taken = {*KEYWORDS, *QUERY, "self"}
    if schema.get("type") != "object" or not all(is_name(prop) and prop not in taken for prop in properties):
        return [f"input: {form.given}"]
    given = Given(module)
    name = f"{camel(form.operation.name)}Arguments"
    kinds = {prop: given.of(part, f"{name}{camel(prop)}") for prop, part in properties.items()}
    needed = [f"{prop}: {kind}" for prop, kind in kinds.items() if is_needed(schema, prop)]
    return [*needed, *(f"{prop}: {kind} = ..." for prop, kind in kinds.items() if not is_needed(schema, prop))]


def _query_words(module: Module, operation: OperationSpec) -> list[str]:
    if operation.query is QueryRule.ABSENT:
        return []
    kinds = _MANY if operation.scope is Scope.ENTRIES else _ONE
    module.use("toa.typing", "Criteria")
    if kinds is _MANY:
        module.use("collections.abc", "Sequence")
        module.use("toa.typing", "Id", "Names")
    return [f"{name}: {kind} | None = None" for name, kind in kinds.items()]
