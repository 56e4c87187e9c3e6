"""What a manifest means, once read: frozen specs that every layer above works from.

A spec holds decisions, not text: defaults are filled in, short forms are expanded, durations are milliseconds.
Only ``toa.manifests`` makes specs; everything else reads them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

Schema = Mapping[str, Any]
"""A JSON Schema (draft-07), as plain data."""


class PropertyType(StrEnum):
    """How a property is stored, compared and shown. Decided from `type` and `format` of its schema."""

    STRING = "string"
    INTEGER = "integer"
    NUMBER = "number"
    DECIMAL = "decimal"
    """`number` with `format: decimal`: `Decimal` in drafts, text in plain digits in JSON."""
    BOOLEAN = "boolean"
    OBJECT = "object"
    ARRAY = "array"
    MOMENT = "moment"
    """`integer` with `format: epoch-millis`: whole ms in drafts and JSON, `DateTimeField` on the model."""
    UUID = "uuid"
    """Text of 32 hex digits in drafts and JSON."""
    DATE = "date"
    DATETIME = "date-time"
    EMAIL = "email"
    REF = "ref"
    """The key of a row of another model; `ref` names the model as `app_label.Model`."""


class OperationType(StrEnum):
    """The field's terms beside ours: decider, query, partial update, pure function, activity, durable function."""

    TRANSITION = "transition"
    OBSERVATION = "observation"
    ASSIGNMENT = "assignment"
    COMPUTATION = "computation"
    EFFECT = "effect"
    WORKFLOW = "workflow"


class Scope(StrEnum):
    """What the second parameter of an operation stands for."""

    ENTRY = "entry"
    ENTRIES = "entries"
    CHANGESET = "changeset"
    NONE = "none"


class QueryRule(StrEnum):
    REQUIRED = "required"
    ABSENT = "absent"
    OPTIONAL = "optional"


class Concurrency(StrEnum):
    RETRY = "retry"
    NONE = "none"


class PulseScope(StrEnum):
    GROUP = "group"
    """One call for each boundary, whatever the number of processes."""
    REPLICA = "replica"
    """One call for each boundary in each worker process."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PropertySpec:
    """One property of an entity, declared or system."""

    name: str
    type: PropertyType
    schema: Schema
    """The value's JSON Schema without null; whether null is allowed is `nullable`."""
    nullable: bool = True
    system: bool = False
    field: str = ""
    """Name of the Django field on the model (`updated_at` for `UPDATED`); for a ref its relation's name."""
    attname: str = ""
    """The attribute that holds the stored value; differs from `field` for a ref only (`owner_id`)."""
    max_length: int | None = None
    enum: tuple[str, ...] | None = None
    digits: int | None = None
    """Of a decimal: digits in all."""
    places: int | None = None
    """Of a decimal: digits after the point; more are refused, not rounded."""
    ref: str | None = None
    deadline: bool = False
    description: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexSpec:
    """An index, partial where `where` (criteria) is given. A leading `-` in `on` means descending."""

    name: str
    on: tuple[str, ...]
    where: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EntitySpec:
    """The rows of a component."""

    properties: Mapping[str, PropertySpec]
    """Declared properties in the manifest's order; holds `id` only if the manifest declares it."""
    id: PropertySpec
    system: Mapping[str, PropertySpec]
    """CREATED, UPDATED, DELETED, VERSION, and TIMEOUT, STATE, HELD, CLOCK where the component has deadlines."""
    required: tuple[str, ...] = ()
    blank: Mapping[str, Any] = field(default_factory=dict)
    """The values of a record before anything was written; a property without one is null."""
    associated: bool = False
    unique: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    index: Mapping[str, IndexSpec] = field(default_factory=dict)
    history: bool = False
    model: str | None = None
    """`app_label.Model` of an existing model this component is bound to."""
    schema: Schema = field(default_factory=dict)
    """JSON Schema of the declared properties together: what every written row must satisfy."""

    def selectable(self) -> dict[str, PropertySpec]:
        """Every property that criteria, sort and projection may name, by name."""
        return {"id": self.id, **self.properties, **self.system}


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationSpec:
    """One operation: what it takes, what it answers, how it is run."""

    name: str
    type: OperationType
    scope: Scope
    query: QueryRule
    concurrency: Concurrency | None = None
    once_ms: int | None = None
    """How long a once key is remembered, in ms; null where the operation takes no once key."""
    input: Schema | None = None
    """Null: only null is accepted."""
    output: Schema | None = None
    errors: frozenset[str] = frozenset()
    timeout_ms: int = 30_000
    attempts: int = 3
    retry: tuple[str, ...] = ()
    """Dotted names of exceptions that count as transient, of effects."""
    lease_ms: int = 30_000
    module: str | None = None
    """Module of the function, or null for an inherited operation that nobody refined in code."""
    inherited: bool = False
    description: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class EventSpec:
    name: str
    description: str = ""
    payload: Schema | None = None
    module: str | None = None
    """Module with `condition(state, origin)` and `payload(state, origin)`, both optional; null where there is none."""
    inherited: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiverSpec:
    """What a component does when an event of another one (or of its own) happened."""

    event: str
    """`namespace.component.event`."""
    operation: str
    """Name of an operation of the receiving component."""
    position: int
    """Place among the receivers of its manifest; the second key of order, after the event's VERSION."""
    module: str | None = None
    """`receivers.py` of the component, where it has one."""
    condition: str | None = None
    """Name of a function `(state, origin) -> bool` in that module; without it every event is received."""
    request: str | None = None
    """Name of a function `(state, origin) -> {"query": …, "input": …}` in that module. Without it the request is
    `query: {id: <id of the source>}` where the operation takes a query, and the event's payload as `input` where it
    takes an input."""
    delay_ms: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PulseSpec:
    """Calls on a fixed grid from the Unix epoch; with `query`, a declared sweep."""

    operation: str
    name: str = ""
    """Distinguishes several of one operation; empty for the only one."""
    cycle_ms: int
    intervals: int = 1
    scope: PulseScope = PulseScope.GROUP
    query: Mapping[str, Any] | None = None
    input: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleSpec:
    """Calendar occurrences in a named zone."""

    operation: str
    name: str = ""
    expression: str
    zone: str = "UTC"
    overdue_ms: int | None = None
    catch_up: str = "once"
    """`once`, `none` or `each`."""
    each_max: int = 100
    each_window_ms: int = 86_400_000
    overlap: str = "skip"
    gap: str = "end"
    fold: str = "first"
    jitter_ms: int = 0
    query: Mapping[str, Any] | None = None
    input: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadlineSpec:
    """A property that is the moment its transition is due; `timeout` has a lifetime and ends the process."""

    property: str
    transition: str
    lifetime_ms: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpositionSpec:
    """Who may call an operation over HTTP."""

    operation: str
    audience: str
    """`anonymous`, `authenticated`, `owner` or `permission`."""
    owner: str | None = None
    """Of `owner`: the property that holds the caller's id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComponentSpec:
    """A component: everything its manifest says, with defaults filled in."""

    namespace: str
    name: str
    package: str
    """Dotted path of the Python package that holds the manifest."""
    path: str
    """The manifest's path, as shown in problems."""
    description: str = ""
    entity: EntitySpec | None = None
    operations: Mapping[str, OperationSpec] = field(default_factory=dict)
    events: Mapping[str, EventSpec] = field(default_factory=dict)
    receivers: tuple[ReceiverSpec, ...] = ()
    pulses: tuple[PulseSpec, ...] = ()
    schedules: tuple[ScheduleSpec, ...] = ()
    deadlines: Mapping[str, DeadlineSpec] = field(default_factory=dict)
    configuration: Schema = field(default_factory=dict)
    """JSON Schema of type object, or empty."""
    exposition: Mapping[str, ExpositionSpec] = field(default_factory=dict)

    @property
    def locator(self) -> str:
        """`store.orders`; without a namespace only the name."""
        return f"{self.namespace}.{self.name}" if self.namespace else self.name

    @property
    def label(self) -> str:
        """`store_orders`: label of the Django app and prefix of its tables."""
        return f"{self.namespace}_{self.name}" if self.namespace else self.name

    def endpoint(self, operation: str) -> str:
        return f"{self.locator}.{operation}"
