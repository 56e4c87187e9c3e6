"""What a component's Python files say about it, read from their text: nothing is imported, nothing runs."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from toa.core.nearest import did_you_mean
from toa.core.specs import OperationType, Scope
from toa.manifests.names import name_problem
from toa.manifests.problems import OPERATION_FILE, TIMER_IN_MEMORY, WRONG_NAME, Level, Problem
from toa.manifests.timers import timers

Function = ast.FunctionDef | ast.AsyncFunctionDef

SCOPES: Mapping[OperationType, tuple[Scope, ...]] = {
    OperationType.TRANSITION: (Scope.ENTRY, Scope.ENTRIES),
    OperationType.OBSERVATION: (Scope.ENTRY, Scope.ENTRIES),
    OperationType.ASSIGNMENT: (Scope.CHANGESET,),
    OperationType.COMPUTATION: (Scope.NONE,),
    OperationType.EFFECT: (Scope.NONE,),
    OperationType.WORKFLOW: (Scope.NONE,),
}
"""The second parameter that each type may have."""

TYPES = tuple(kind.value for kind in OperationType)


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationSource:
    """One file under `operations/`. `type` and `scope` are null where the file does not hold."""

    name: str
    path: str
    line: int = 1
    type: OperationType | None = None
    scope: Scope | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """All files of a component that say something about it."""

    operations: Mapping[str, OperationSource]
    events: Mapping[str, frozenset[str]]
    """Of each file under `events/`: which of `condition` and `payload` it has."""
    receivers: frozenset[str] | None
    """The functions of `receivers.py`, or null where there is none."""
    problems: tuple[Problem, ...]


def read_sources(directory: Path, shown: str) -> Sources:
    """The sources of the component in `directory`; `shown` is that directory as problems show it."""
    reading = _Reading(directory, shown)
    operations = {
        file.stem: reading.operation(file, tree) for file, tree in reading.files("operations") if reading.named(file)
    }
    events = {file.stem: reading.event(file, tree) for file, tree in reading.files("events") if reading.named(file)}
    return Sources(
        operations=operations, events=events, receivers=reading.receivers(), problems=tuple(reading.problems)
    )


class _Reading:
    def __init__(self, directory: Path, shown: str) -> None:
        self.directory = directory
        self.shown = shown
        self.problems: list[Problem] = []

    def files(self, folder: str) -> Iterator[tuple[Path, ast.Module | None]]:
        """The modules of a folder in the order of their names; those that begin with `_` are the author's own."""
        for file in sorted((self.directory / folder).glob("*.py")):
            if not file.name.startswith("_"):
                yield file, self._parse(file)

    def named(self, file: Path) -> bool:
        problem = name_problem(file.stem)
        if problem:
            self._problem(file, 1, problem, id=WRONG_NAME)
        return problem is None

    def operation(self, file: Path, tree: ast.Module | None) -> OperationSource:
        source = OperationSource(name=file.stem, path=self._path(file))
        if tree is None:
            return source
        for timer in timers(tree):
            self._problem(
                file,
                timer.line,
                f"{timer.what} waits in memory and is lost with its process",
                hint=timer.hint,
                id=TIMER_IN_MEMORY,
                level="warning",
            )
        functions = [node for node in _functions(tree) if node.name in TYPES]
        if not functions:
            names = [node.name for node in _functions(tree)]
            close = next((hint for name in names if "did you mean" in (hint := did_you_mean(name, TYPES))), "")
            self._problem(
                file, 1, "no function is named for a type of operation", hint=close or f"one of {', '.join(TYPES)}"
            )
            return source
        function = functions[0]
        for further in functions[1:]:
            self._problem(
                file, further.lineno, f"a second operation, {further.name}, stands here", hint="one file, one operation"
            )
        kind = OperationType(function.name)
        return OperationSource(
            name=file.stem,
            path=source.path,
            line=function.lineno,
            type=kind if self._is_called_rightly(file, function, kind) else None,
            scope=self._scope(file, function, kind),
        )

    def event(self, file: Path, tree: ast.Module | None) -> frozenset[str]:
        found = set()
        for function in _functions(tree) if tree else ():
            if function.name in ("condition", "payload"):
                found.add(function.name)
                self._check_state_origin(file, function)
        if tree and not found:
            self._problem(file, 1, "neither condition(state, origin) nor payload(state, origin) stands here")
        return frozenset(found)

    def receivers(self) -> frozenset[str] | None:
        file = self.directory / "receivers.py"
        if not file.is_file():
            return None
        tree = self._parse(file)
        found = {}
        for function in _functions(tree) if tree else ():
            found[function.name] = function
        return frozenset(found)

    def _is_called_rightly(self, file: Path, function: Function, kind: OperationType) -> bool:
        is_async = isinstance(function, ast.AsyncFunctionDef)
        if is_async and kind is not OperationType.WORKFLOW:
            self._problem(file, function.lineno, f"{kind.value} must be a plain `def`", hint="only a workflow is async")
            return False
        if not is_async and kind is OperationType.WORKFLOW:
            self._problem(file, function.lineno, "workflow must be an `async def`")
            return False
        return True

    def _scope(self, file: Path, function: Function, kind: OperationType) -> Scope | None:
        names = _parameters(function)
        scopes = SCOPES[kind]
        for scope in scopes:
            expected = ["input", "context"] if scope is Scope.NONE else ["input", scope.value, "context"]
            if names == expected:
                return scope
        forms = " or ".join(
            f"{kind.value}(input, context)" if scope is Scope.NONE else f"{kind.value}(input, {scope.value}, context)"
            for scope in scopes
        )
        given = ", ".join(names) if names is not None else "…"
        self._problem(file, function.lineno, f"{kind.value}({given}) is no form of an operation", hint=f"write {forms}")
        return None

    def _check_state_origin(self, file: Path, function: Function) -> None:
        if _parameters(function) != ["state", "origin"] or isinstance(function, ast.AsyncFunctionDef):
            hint = f"def {function.name}(state, origin)"
            self._problem(file, function.lineno, f"{function.name} must take state and origin", hint=hint)

    def _parse(self, file: Path) -> ast.Module | None:
        try:
            return ast.parse(file.read_bytes(), filename=str(file))
        except SyntaxError as error:
            self._problem(
                file, error.lineno or 1, f"Python cannot read the file: {error.msg}", column=error.offset or 1
            )
        except (OSError, ValueError, RecursionError, MemoryError) as error:
            self._problem(file, 1, f"the file cannot be read: {error}")
        return None

    def _path(self, file: Path) -> str:
        inside = file.relative_to(self.directory).as_posix()
        return f"{self.shown}/{inside}" if self.shown else inside

    def _problem(
        self,
        file: Path,
        line: int,
        message: str,
        *,
        hint: str = "",
        id: str = OPERATION_FILE,
        level: Level = "error",
        column: int = 1,
    ) -> None:
        self.problems.append(
            Problem(
                path=self._path(file),
                line=line,
                column=column,
                where="",
                message=message,
                hint=hint,
                id=id,
                level=level,
            )
        )


def _functions(tree: ast.Module) -> list[Function]:
    return [node for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


def _parameters(function: Function) -> list[str] | None:
    """The names of plain parameters, or null where the function takes any others."""
    given = function.args
    if given.vararg or given.kwarg or given.kwonlyargs or given.defaults:
        return None
    return [argument.arg for argument in (*given.posonlyargs, *given.args)]
