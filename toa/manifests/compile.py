"""From a manifest's file to a `ComponentSpec`, with every problem that stands in the way."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass, replace
from pathlib import Path

from toa.core.specs import ComponentSpec
from toa.manifests.cadence import read_cadence
from toa.manifests.contracts import read_schema
from toa.manifests.deadlines import read_deadlines
from toa.manifests.document import Document
from toa.manifests.entity import read_entity
from toa.manifests.events import read_events
from toa.manifests.exposition import read_exposition
from toa.manifests.fields import Fields
from toa.manifests.identity import component_names, package_of
from toa.manifests.keys import MANIFEST
from toa.manifests.operations import read_operations
from toa.manifests.place import Place, Report
from toa.manifests.problems import CONFIGURATION, UNREADABLE, Problem, in_order
from toa.manifests.reader import MAX_BYTES, read
from toa.manifests.receivers import read_receivers
from toa.manifests.sources import Sources, read_sources
from toa.manifests.sweeps import Targets

FILENAME = "manifest.toa.yaml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """What became of one manifest. `spec` holds what is sound; it is null where nothing could be read."""

    spec: ComponentSpec | None = None
    problems: tuple[Problem, ...] = ()
    document: Document | None = None
    """The document with its positions, for checks that need several manifests."""
    file: Path | None = None


def load_directory(directory: Path, package: str) -> Loaded | None:
    """The component of a package that lies in `directory`, or null where there is no manifest.

    Nothing is imported: models may ask while they are defined.
    """
    manifest = directory / FILENAME
    return load_path(manifest, package) if manifest.is_file() else None


def find_package(package: str) -> Path | None:
    """The directory of a package, or null. Of `store.orders` only `store` is imported, never the component itself."""
    try:
        found = importlib.util.find_spec(package)
    except (ImportError, ValueError, AttributeError):
        return None
    if found is None or not found.submodule_search_locations:
        return None
    return Path(next(iter(found.submodule_search_locations)))


def load_path(path: Path | str, package: str | None = None) -> Loaded:
    """The component whose manifest is at `path`. Its package is worked out from the directories unless given."""
    path = Path(path)
    shown = shown_path(path)
    try:
        with path.open("rb") as file:
            source = file.read(MAX_BYTES + 1)
    except OSError as error:
        problem = Problem(
            path=shown,
            line=1,
            column=1,
            where="",
            message=f"the file cannot be read: {error.strerror or error}",
            id=UNREADABLE,
        )
        return Loaded(problems=(problem,), file=path.resolve())
    document = read(source, shown)
    sources = read_sources(path.parent, shown.removesuffix(path.name).rstrip("/"))
    return replace(compile_document(document, package or package_of(path.parent), sources), file=path.resolve())


def compile_document(document: Document, package: str, sources: Sources) -> Loaded:
    """The component that a document and its Python files describe."""
    report = Report(document)
    spec = None
    if document.data is not None or not document.problems:
        spec = _compile(Place(report, (), document.data), package, sources)
    problems = in_order([*report.problems, *sources.problems])
    return Loaded(spec=spec, problems=problems, document=document)


def shown_path(path: Path) -> str:
    """A path as problems show it: relative to the working directory where it lies below that."""
    try:
        return path.resolve().relative_to(Path.cwd()).as_posix()
    except ValueError:
        return path.as_posix()


def _compile(place: Place, package: str, sources: Sources) -> ComponentSpec | None:
    fields = Fields(place, MANIFEST)
    names = component_names(fields, package)
    if names is None:
        return None
    namespace, name = names

    def section(key: str) -> Place:
        return fields.get(key) or Place(place.report, (key,))

    deadlines = section("deadlines")
    listed = deadlines.value if isinstance(deadlines.value, dict) else {}
    entity = read_entity(section("entity"), listed) if "entity" in fields else None
    operations = read_operations(section("operations"), sources, package, stateless=entity is None)
    written = section("operations").value
    declared = frozenset(sources.operations) | frozenset(written if isinstance(written, dict) else ())
    cadence = read_cadence(section("cadence"), Targets(operations=operations, declared=declared, entity=entity))
    configuration = fields.get("configuration")
    return ComponentSpec(
        namespace=namespace,
        name=name,
        package=package,
        path=place.report.document.path,
        description=fields.text("description"),
        entity=entity,
        operations=operations,
        events=read_events(section("events"), sources, package, stateless=entity is None),
        receivers=read_receivers(section("receivers"), operations, declared, sources, package),
        pulses=cadence.pulses,
        schedules=cadence.schedules,
        deadlines=read_deadlines(deadlines, entity, operations, declared),
        configuration={} if configuration is None else _configuration(configuration),
        exposition=read_exposition(section("exposition"), entity, operations, declared),
    )


def _configuration(place: Place) -> dict[str, object]:
    """The configuration's schema. What it does not name is a slip of the pen, unless it says otherwise."""
    if not isinstance(place.value, dict) or place.value.get("type", "object") != "object":
        place.error("must be a JSON Schema of an object", hint="configuration: { properties: … }", id=CONFIGURATION)
        return {}
    return dict(read_schema(place, implied={"type": "object", "additionalProperties": False}) or {})
