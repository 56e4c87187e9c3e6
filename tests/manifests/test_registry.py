"""All components of a process: found by package, read once, checked together."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from toa.exceptions import UnknownEndpoint
from toa.manifests import registry
from toa.manifests.compile import Loaded


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty project on the path, and a registry that knows nothing. The process keeps what it had registered."""
    for name, empty in {"_loaded": {}, "_registered": {}, "_endpoints": {}, "_components": None}.items():
        monkeypatch.setattr(registry, name, empty)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if name.partition(".")[0] in ("alpha", "beta"):
            del sys.modules[name]


def component(root: Path, package: str, manifest: str, **operations: str) -> None:
    """A component's package with its manifest and operations, as `name="signature"`."""
    folder = root.joinpath(*package.split("."))
    (folder / "operations").mkdir(parents=True)
    for part in (folder, folder.parent):
        if part != root:
            (part / "__init__.py").touch()
    (folder / "manifest.toa.yaml").write_text(manifest, encoding="utf-8")
    for name, signature in operations.items():
        (folder / "operations" / f"{name}.py").write_text(f"def {signature}: ...\n", encoding="utf-8")


def test_M1_all_problems_of_all_manifests_are_reported_at_once(project: Path) -> None:
    component(
        project,
        "alpha.orders",
        """\
entity:
  properties:
    status: strng
cadence:
  expires: 300
""",
        expire="effect(input, context)",
    )
    component(
        project,
        "beta.stock",
        """\
receivers:
  alpha.orders.creatd: reserve
""",
        reserve="effect(input, context)",
    )
    registry.register(["alpha.orders", "beta.stock"])
    assert [str(problem) for problem in registry.problems()] == [
        "alpha/orders/manifest.toa.yaml:3:13: entity.properties.status: no type is called 'strng'; "
        "did you mean 'string'?",
        "alpha/orders/manifest.toa.yaml:5:3: cadence.expires: no operation is called 'expires'; did you mean 'expire'?",
        "beta/stock/manifest.toa.yaml:2:3: receivers.alpha.orders.creatd: 'alpha.orders' has no event called 'creatd'; "
        "did you mean 'created'?",
    ]


@pytest.mark.parametrize(
    ("cadence", "sent"),
    [
        ("60", "{ n, i }"),
        ("{ cycle: 60, intervals: 4 }", "{ n, i }"),
        ('"0 9 * * *"', "{ at }"),
        ('{ schedule: "0 9 * * *", zone: Asia/Tokyo }', "{ at }"),
    ],
)
@pytest.mark.parametrize(
    ("declared", "reason"),
    [
        ("", "takes no input"),
        ("input: string", "does not take it: must be text, not an object"),
        ("input: { type: object, required: [since] }", "does not take it: 'since' is required"),
        ("input: { type: object, maxProperties: 0 }", "does not take it"),
    ],
)
def test_M3_a_target_that_refuses_its_input_is_refused_when_it_is_read(
    project: Path, cadence: str, sent: str, declared: str, reason: str
) -> None:
    component(
        project,
        "alpha.orders",
        f"operations:\n  report: {{ {declared} }}\ncadence:\n  report: {cadence}\n",
        report="effect(input, context)",
    )
    spec = registry.component_of_package("alpha.orders")
    (problem,) = registry.problems()
    assert problem.id == "toa.E019"
    assert problem.where == "cadence.report"
    assert f"is sent {sent} and {reason}" in problem.message
    assert spec is not None
    assert (spec.pulses, spec.schedules) == ((), ())


@pytest.mark.parametrize(
    ("manifest", "place", "nearest"),
    [
        ("entity: { propertis: {} }\n", "1:11: entity.propertis", "properties"),
        ("exposition: { lok: anonymous }\n", "1:15: exposition.lok", "look"),
        ("cadence: { tel: 60 }\n", "1:12: cadence.tel", "tell"),
        (
            'cadence: { tell: { schedule: "0 9 * * *", zone: Europe/Berln } }\n',
            "1:49: cadence.tell.zone",
            "Europe/Berlin",
        ),
        ("receivers: { alpha.orders.updted: tell }\n", "1:14: receivers.alpha.orders.updted", "updated"),
        ("receivers: { alpha.order.updated: tell }\n", "1:14: receivers.alpha.order.updated", "alpha.orders.updated"),
        (
            "entity: { properties: { due: deadline } }\ndeadlines: { due: clos }\n",
            "2:19: deadlines.due",
            "close",
        ),
        (
            "entity: { properties: { due: deadline } }\ndeadlines: { deu: close, due: close }\n",
            "2:14: deadlines.deu",
            "due",
        ),
    ],
)
def test_M4_what_is_unknown_is_told_with_the_nearest_known_name(
    project: Path, manifest: str, place: str, nearest: str
) -> None:
    entity = "" if "entity" in manifest else "entity: {}\n"
    operations = "operations: { tell: { input: object }, close: { query: true, concurrency: retry } }\n"
    component(
        project,
        "alpha.orders",
        manifest + entity + operations,
        tell="effect(input, context)",
        look="observation(input, entry, context)",
        close="transition(input, entry, context)",
    )
    registry.register(["alpha.orders"])
    (problem,) = registry.problems()
    assert str(problem).startswith(f"alpha/orders/manifest.toa.yaml:{place}: ")
    assert problem.hint.replace("'", "") == f"did you mean {nearest}?"


def test_M4_an_unknown_endpoint_names_the_nearest_one(project: Path) -> None:
    component(project, "alpha.orders", "entity: {}\n")
    registry.register(["alpha.orders"])
    spec, operation = registry.endpoint("alpha.orders.observe")
    assert (spec.locator, operation.name) == ("alpha.orders", "observe")
    assert registry.endpoint("alpha.orders.observe")[1] is operation
    for name, hint in [("alpha.orders.obsrve", "alpha.orders.observe"), ("alpha.order.assign", "alpha.orders.assign")]:
        with pytest.raises(UnknownEndpoint) as caught:
            registry.endpoint(name)
        assert caught.value.hint == f"did you mean '{hint}'?"
    with pytest.raises(UnknownEndpoint) as caught:
        registry.component("alpha.order")
    assert str(caught.value) == "no component is called 'alpha.order' (did you mean 'alpha.orders'?)"
    for odd in ("", "observe", "alpha.orders.", "a.b.c.d.e"):
        with pytest.raises(UnknownEndpoint):
            registry.endpoint(odd)


def test_a_broken_manifest_never_raises_and_leaves_what_is_sound(project: Path) -> None:
    component(
        project,
        "alpha.orders",
        "entity: { properties: { status: string, total: money } }\noperations: { vanish: ~ }\nnonsense: 1\n",
    )
    spec = registry.component_of_package("alpha.orders")
    assert spec is not None
    assert spec.entity is not None
    assert list(spec.entity.properties) == ["status"]
    assert "observe" in spec.operations
    assert len(registry.problems()) == 3


@pytest.mark.parametrize("manifest", ["a: [", "- 1", "name: toa", ""])
def test_a_manifest_without_anything_sound_is_still_no_exception(project: Path, manifest: str) -> None:
    component(project, "alpha.orders", manifest)
    registry.register(["alpha.orders"])
    assert bool(registry.problems()) is (manifest != "")


def test_packages_that_are_no_components_are_passed_over(project: Path) -> None:
    (project / "alpha").mkdir()
    (project / "alpha" / "__init__.py").touch()
    (project / "beta.py").write_text("raise RuntimeError('must not be imported')\n", encoding="utf-8")
    for package in ("alpha", "alpha.nothing", "beta", "nowhere.at.all", "json", "json.decoder", ""):
        assert registry.component_of_package(package) is None
    assert registry.all() == {}
    assert registry.problems() == ()


def test_the_component_itself_is_not_imported(project: Path) -> None:
    component(project, "alpha.orders", "entity: {}\n")
    (project / "alpha" / "orders" / "__init__.py").write_text("raise RuntimeError\n", encoding="utf-8")
    assert registry.component_of_package("alpha.orders") is not None
    assert "alpha.orders" not in sys.modules


def test_each_manifest_is_read_once_by_any_number_of_threads(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    component(project, "alpha.orders", "entity: {}\n")
    read = []
    load = registry.load_directory

    def counted(directory: Path, package: str) -> Loaded | None:
        read.append(package)
        return load(directory, package)

    monkeypatch.setattr(registry, "load_directory", counted)
    together = threading.Barrier(8)
    found = []

    def ask() -> None:
        together.wait(30)
        found.append(registry.component_of_package("alpha.orders"))
        found.append(registry.component("alpha.orders"))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert read == ["alpha.orders"]
    assert len({id(spec) for spec in found}) == 1
    assert len(found) == 16


def test_after_a_reset_a_changed_manifest_is_read_anew(project: Path) -> None:
    component(project, "alpha.orders", "description: one\n", look="computation(input, context)")
    registry.register(["alpha.orders"])
    assert registry.component("alpha.orders").description == "one"
    registry.endpoint("alpha.orders.look")
    (project / "alpha/orders/manifest.toa.yaml").write_text("description: two\n", encoding="utf-8")
    registry.reset()
    assert registry.all() == {}
    with pytest.raises(UnknownEndpoint):
        registry.endpoint("alpha.orders.look")
    registry.register(["alpha.orders"])
    assert registry.component("alpha.orders").description == "two"


def test_components_come_in_the_order_of_registration(project: Path) -> None:
    component(project, "beta.stock", "entity: {}\n")
    component(project, "alpha.orders", "entity: {}\n")
    registry.register(["beta.stock", "alpha.orders"])
    assert list(registry.all()) == ["beta.stock", "alpha.orders"]
    assert registry.packages() == ("beta.stock", "alpha.orders")
    assert registry.files() == (
        project / "beta/stock/manifest.toa.yaml",
        project / "alpha/orders/manifest.toa.yaml",
    )
