"""The `operations` of a manifest, joined with the files under `operations/` and with what is inherited."""

from __future__ import annotations

from typing import Any

from toa.core.duration import SECOND_MS
from toa.core.nearest import did_you_mean
from toa.core.specs import Concurrency, OperationSpec, OperationType, QueryRule, Scope
from toa.manifests.contracts import read_schema
from toa.manifests.effects import read_effect
from toa.manifests.fields import Fields
from toa.manifests.keys import OPERATION as KEYS
from toa.manifests.names import a_type, check_name, code_problem
from toa.manifests.place import Place
from toa.manifests.problems import OPERATION, OPERATION_FILE, Problem
from toa.manifests.sources import OperationSource, Sources

ONCE_MS = 3_600_000
"""How long `once: true` remembers a key."""

_ONCE = (OperationType.TRANSITION, OperationType.ASSIGNMENT)


def inherited_operations() -> dict[str, OperationSpec]:
    """What every component with an entity has without writing it."""
    transition = {"type": OperationType.TRANSITION, "scope": Scope.ENTRY, "concurrency": Concurrency.RETRY}
    forms: dict[str, dict[str, Any]] = {
        "observe": {"type": OperationType.OBSERVATION, "scope": Scope.ENTRY, "query": QueryRule.REQUIRED},
        "enumerate": {"type": OperationType.OBSERVATION, "scope": Scope.ENTRIES, "query": QueryRule.OPTIONAL},
        "assign": {"type": OperationType.ASSIGNMENT, "scope": Scope.CHANGESET, "query": QueryRule.REQUIRED},
        "terminate": {**transition, "query": QueryRule.REQUIRED},
        "ensure": {**transition, "query": QueryRule.REQUIRED},
    }
    return {name: OperationSpec(name=name, inherited=True, **form) for name, form in forms.items()}


def read_operations(place: Place, sources: Sources, package: str, stateless: bool) -> dict[str, OperationSpec]:
    """All operations of the component by name; those that do not hold are left out and reported."""
    found = {} if stateless else inherited_operations()
    declared = {entry.name: entry for entry in place.entries() if check_name(entry)}
    for name, source in sources.operations.items():
        if name not in declared:
            spec = _Declaration(Place(place.report, (*place.path, name)), source, found.get(name), package).read()
            _keep(found, name, spec)
    for name, entry in declared.items():
        source_of = sources.operations.get(name)
        if source_of is None and name not in found:
            entry.error(
                f"'{name}' has no file operations/{name}.py",
                hint=did_you_mean(name, sorted({*sources.operations, *found})),
                id=OPERATION,
                key=True,
            )
            continue
        _keep(found, name, _Declaration(entry, source_of, found.get(name), package).read())
    if stateless:
        found = {name: spec for name, spec in found.items() if _may_be_stateless(place, spec, sources)}
    return found


def _keep(found: dict[str, OperationSpec], name: str, spec: OperationSpec | None) -> None:
    """A broken refinement of an inherited operation leaves the inherited one out, too: it would be another."""
    if spec is None:
        found.pop(name, None)
    else:
        found[name] = spec


def _may_be_stateless(place: Place, spec: OperationSpec, sources: Sources) -> bool:
    if spec.scope is Scope.NONE:
        return True
    source = sources.operations[spec.name]
    place.report.problems.append(
        Problem(
            path=source.path,
            line=source.line,
            column=1,
            where="",
            message=f"{a_type(spec.type)} needs rows, and the component has no entity",
            hint="declare `entity`, or make it a computation or an effect",
            id=OPERATION_FILE,
        )
    )
    return False


class _Declaration:
    """One operation: what the manifest says, beside its file and what it refines."""

    def __init__(
        self, place: Place, source: OperationSource | None, refined: OperationSpec | None, package: str
    ) -> None:
        self.place = place
        self.source = source
        self.refined = refined
        self.package = package
        self.fields = Fields(place, KEYS)

    def read(self) -> OperationSpec | None:
        before = self.place.report.errors()
        if not isinstance(self.place.value, dict | None):
            return None  # reported where its fields were read
        kind, scope = self._form()
        if kind is None or scope is None:
            return None
        query = self._query(kind, scope)
        spec = OperationSpec(
            name=self.place.name,
            type=kind,
            scope=scope,
            query=query,
            concurrency=self._concurrency(kind, query),
            once_ms=self._once(kind),
            input=self._schema("input"),
            output=self._schema("output"),
            errors=self._errors(),
            module=None if self.source is None else f"{self.package}.operations.{self.source.name}",
            inherited=self.refined is not None,
            description=self.fields.text("description"),
        )
        spec = read_effect(self.fields, spec)
        return spec if self.place.report.errors() == before else None

    def _form(self) -> tuple[OperationType | None, Scope | None]:
        """Type and scope, from the file or else from what is refined; the manifest's `type` must agree."""
        if self.source is not None:
            kind, scope = self.source.type, self.source.scope
        else:
            assert self.refined is not None
            kind, scope = self.refined.type, self.refined.scope
        if kind is not None and self.refined is not None and (kind, scope) != (self.refined.type, self.refined.scope):
            self._at_source(
                f"'{self.refined.name}' is inherited as {self.refined.type.value} over {self.refined.scope.value}, "
                "and stays that",
                hint="give the operation another name",
            )
            return None, None
        declared = self.fields.get("type")
        if declared is not None and kind is not None and declared.value != kind.value:
            declared.error(f"the file has the function {kind.value}, not {declared.value}", id=OPERATION)
        return kind, scope

    def _at_source(self, message: str, hint: str = "") -> None:
        """Report at the file of the operation."""
        assert self.source is not None
        self.place.report.problems.append(
            Problem(
                path=self.source.path,
                line=self.source.line,
                column=1,
                where="",
                message=message,
                hint=hint,
                id=OPERATION_FILE,
            )
        )

    def _query(self, kind: OperationType, scope: Scope) -> QueryRule:
        place = self.fields.get("query")
        if scope is Scope.NONE:
            if place is not None and place.value:
                place.error(f"{a_type(kind)} takes no query", id=OPERATION)
            return QueryRule.ABSENT
        if place is None:
            if self.refined is not None:
                return self.refined.query
            # What it changes or assigns must be found first; only one entry can be created.
            must = kind is OperationType.ASSIGNMENT or (kind is OperationType.TRANSITION and scope is Scope.ENTRIES)
            return QueryRule.REQUIRED if must else QueryRule.OPTIONAL
        if place.value:
            return QueryRule.REQUIRED
        if kind is OperationType.TRANSITION and scope is Scope.ENTRY and self.refined is None:
            return QueryRule.ABSENT
        place.error(
            f"{a_type(kind)} over {scope.value} cannot do without a query", hint="leave the key out", id=OPERATION
        )
        return QueryRule.REQUIRED

    def _concurrency(self, kind: OperationType, query: QueryRule) -> Concurrency | None:
        place = self.fields.get("concurrency")
        if kind is OperationType.TRANSITION and query is not QueryRule.ABSENT:
            if place is not None:
                return Concurrency(place.value)
            if self.refined is not None:
                return self.refined.concurrency
            if "concurrency" not in (self.place.value or {}):
                message = "a transition that takes a query says what a lost race means"
                hint = f"write operations.{self.place.name}.concurrency: retry (or none)"
                if self.place.value is None and self.source is not None:
                    self._at_source(message, hint)
                else:
                    self.place.error(message, hint="concurrency: retry, or none", id=OPERATION, key=True)
            return None
        if place is not None:
            reason = "a transition that creates" if kind is OperationType.TRANSITION else a_type(kind)
            place.error(f"{reason} has no concurrency", id=OPERATION, key=True)
        return None

    def _once(self, kind: OperationType) -> int | None:
        place = self.fields.get("once")
        if place is None or place.value is False:
            return None
        if kind not in _ONCE:
            place.error(f"{a_type(kind)} takes no once key", hint="transitions and assignments do", id=OPERATION)
            return None
        return ONCE_MS if place.value is True else int(place.value) * SECOND_MS

    def _schema(self, key: str) -> Any:
        place = self.fields.get(key)
        return None if place is None else read_schema(place)

    def _errors(self) -> frozenset[str]:
        for item in self.fields.items("errors"):
            problem = code_problem(item.value)
            if problem:
                item.error(problem, id=OPERATION)
        return frozenset(self.fields.names("errors"))
