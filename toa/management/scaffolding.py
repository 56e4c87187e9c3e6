"""The files that `toa new` writes: a component, an operation. They hold as they stand."""

from __future__ import annotations

from dataclasses import dataclass

from toa.core.specs import ComponentSpec, OperationType, Scope
from toa.manifests.types.source import camel

Files = dict[str, str]
"""Content by path below the folder that holds the outermost package."""

_APPS = """\
from toa import ComponentConfig


class {name}Config(ComponentConfig):
    verbose_name = "{label}"
"""
_MODELS = '''\
from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from toa import Entity

if TYPE_CHECKING:
    from {package}.types import Operations


class {model}(Entity):
    """One of the {label}. Its fields come from the manifest beside this file."""

    operations: ClassVar[Operations]

    def __str__(self) -> str:
        return str(self.name)
'''
_MANIFEST = """\
description: {title}

entity:
  required: [name]
  properties:
    name: {{ type: string, minLength: 1, maxLength: 64 }}

operations:
  create:
    query: false
    input:
      type: object
      required: [name]
      properties: {{ name: {{ type: string, minLength: 1, maxLength: 64 }} }}
      additionalProperties: false
    output: {{ type: object, required: [id], properties: {{ id: string }} }}
"""
_STATELESS = """\
description: {title}
"""
_CREATE = '''\
from {package}.types import Context, CreateInput, CreateOutput, Entry


def transition(input: CreateInput, entry: Entry, context: Context) -> CreateOutput:
    """Make one; replies with its id."""
    entry.name = input.name
    return {{"id": entry.id}}
'''
_OPERATION = '''\
from {package}.types import {imports}


{head}def {kind}({parameters}) -> None:
    """Say here what it does."""
'''


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationForm:
    """What a new operation is to be."""

    name: str
    type: OperationType
    scope: Scope


def component_files(package: str, *, stateless: bool) -> Files:
    """The files of a new component, without its `types.py`, which follows from its manifest."""
    name = package.rpartition(".")[2]
    label = name.replace("_", " ")
    words = {
        "package": package,
        "name": camel(name),
        "label": label,
        "title": label.capitalize(),
        "model": camel(name[:-1] if len(name) > 1 and name.endswith("s") and not name.endswith("ss") else name),
    }
    folder = package.replace(".", "/")
    files = {
        f"{folder}/__init__.py": f'"""{words["title"]}."""\n',
        f"{folder}/apps.py": _APPS.format(**words),
        f"{folder}/manifest.toa.yaml": (_STATELESS if stateless else _MANIFEST).format(**words),
        f"{folder}/operations/__init__.py": "",
    }
    if not stateless:
        files |= {
            f"{folder}/models.py": _MODELS.format(**words),
            f"{folder}/operations/create.py": _CREATE.format(**words),
            f"{folder}/migrations/__init__.py": "",
        }
    return files


def operation_file(spec: ComponentSpec, form: OperationForm) -> str:
    """The source of a new operation that takes no input yet."""
    context = {
        OperationType.OBSERVATION: "ObservationContext",
        OperationType.EFFECT: "EffectContext",
        OperationType.WORKFLOW: "WorkflowContext",
    }
    names = [context.get(form.type, "Context")]
    parameters = ["input: None"]
    match form.scope:
        case Scope.ENTRY:
            # An observation is given null where there is no row.
            names.append("Entry" if form.type is OperationType.TRANSITION else "State")
            parameters.append("entry: Entry" if form.type is OperationType.TRANSITION else "entry: State | None")
        case Scope.ENTRIES:
            names.append("Entry" if form.type is OperationType.TRANSITION else "State")
            parameters.append(f"entries: list[{names[-1]}]")
        case Scope.CHANGESET:
            names.append("Changeset")
            parameters.append("changeset: Changeset")
    return _OPERATION.format(
        package=spec.package,
        imports=", ".join(sorted(names)),
        head="async " if form.type is OperationType.WORKFLOW else "",
        kind=form.type.value,
        parameters=", ".join([*parameters, f"context: {names[0]}"]),
    )


def operation_lines(form: OperationForm) -> list[str]:
    """What to write under `operations:` of the manifest."""
    lines = [f"  {form.name}:"]
    if form.scope in (Scope.ENTRY, Scope.CHANGESET, Scope.ENTRIES) and form.type is not OperationType.OBSERVATION:
        lines.append("    query: true")
    if form.type is OperationType.TRANSITION:
        lines.append("    concurrency: retry")
    return lines if len(lines) > 1 else [f"  {form.name}: ~"]
