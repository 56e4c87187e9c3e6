"""What is wrong between manifests: two that clash, and receivers of events that nobody has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from toa.core.nearest import did_you_mean, nearest
from toa.core.specs import ComponentSpec
from toa.manifests.compile import Loaded
from toa.manifests.document import Document, Path, where
from toa.manifests.problems import CLASHING_COMPONENTS, UNKNOWN_COMPONENT, UNKNOWN_EVENT, Level, Problem


def cross_check(loaded: Iterable[Loaded], *, complete: bool = True) -> tuple[Problem, ...]:
    """The problems between components. Unless `complete`, one that is not among them may be somewhere else."""
    components = [(one.spec, one.document) for one in loaded if one.spec is not None and one.document is not None]
    return (*_clashes(components), *_receivers(components, complete))


def _clashes(components: list[tuple[ComponentSpec, Document]]) -> Iterator[Problem]:
    namespaces = {spec.namespace: spec for spec, _ in reversed(components) if spec.namespace}
    locators: dict[str, ComponentSpec] = {}
    labels: dict[str, ComponentSpec] = {}
    for spec, document in components:
        if spec.locator in locators:
            other = locators[spec.locator]
            yield _problem(
                document,
                ("name",),
                f"two components are called '{spec.locator}'",
                hint=f"the other is {other.path}",
                id=CLASHING_COMPONENTS,
            )
            continue
        if spec.label in labels:
            other = labels[spec.label]
            yield _problem(
                document,
                ("name",),
                f"'{spec.locator}' and '{other.locator}' would share the label '{spec.label}' and their tables",
                hint=f"the other is {other.path}",
                id=CLASHING_COMPONENTS,
            )
        if spec.name in namespaces:
            yield _problem(
                document,
                ("name",),
                f"the component is called like the namespace '{spec.name}'",
                hint=f"which {namespaces[spec.name].path} lives in: context.remote.{spec.name} would mean both",
                id=CLASHING_COMPONENTS,
            )
        locators[spec.locator] = spec
        labels.setdefault(spec.label, spec)


def _receivers(components: list[tuple[ComponentSpec, Document]], complete: bool) -> Iterator[Problem]:
    known = {spec.locator: spec for spec, _ in reversed(components)}
    events = [f"{locator}.{event}" for locator, spec in known.items() for event in spec.events]
    for _, document in components:
        data = document.data if isinstance(document.data, dict) else {}
        names = data.get("receivers")
        for name in names if isinstance(names, dict) else ():
            locator, _, event = name.rpartition(".")
            source = known.get(locator)
            if source is not None and event in source.events:
                continue
            path = ("receivers", name)
            if source is not None:
                yield _problem(
                    document,
                    path,
                    f"'{locator}' has no event called '{event}'",
                    hint=did_you_mean(event, source.events),
                    id=UNKNOWN_EVENT,
                )
            elif locator.count(".") > 1 or not locator:
                continue  # not of the form of an event, which has been reported where it was read
            elif complete or nearest(locator, known) is not None:
                yield _problem(
                    document,
                    path,
                    f"no component is called '{locator}'",
                    hint=did_you_mean(name, events) if nearest(name, events) else did_you_mean(locator, known),
                    id=UNKNOWN_EVENT,
                )
            else:
                yield _problem(
                    document,
                    path,
                    f"the component '{locator}' is not among those that were read",
                    hint="check them together",
                    id=UNKNOWN_COMPONENT,
                    level="warning",
                )


def _problem(document: Document, path: Path, message: str, *, hint: str, id: str, level: Level = "error") -> Problem:
    at = document.position(path, key=True)
    return Problem(
        path=document.path,
        line=at.line,
        column=at.column,
        where=where(path),
        message=message,
        hint=hint,
        id=id,
        level=level,
    )
