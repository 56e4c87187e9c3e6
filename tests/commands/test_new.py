"""`manage.py toa new component` and `toa new operation`: what they write holds and works as it stands."""

from __future__ import annotations

import os
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
import yaml
from django.apps import apps
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection

import toa
from toa.checks.manifests import check_apps, check_manifests
from toa.checks.models import check_models
from toa.manifests import registry
from toa.manifests.compile import load_path
from toa.manifests.types.component import types_of
from toa.runtime import bindings

ROOT = Path(__file__).parents[2]


def new(*arguments: str) -> list[str]:
    out = StringIO()
    call_command("toa", "new", *arguments, stdout=out)
    return out.getvalue().splitlines()


def test_a_component_is_written_once_and_says_what_comes_next(project):
    assert new("component", "garage.cars") == [
        "garage/__init__.py written",
        "garage/cars/__init__.py written",
        "garage/cars/apps.py written",
        "garage/cars/manifest.toa.yaml written",
        "garage/cars/migrations/__init__.py written",
        "garage/cars/models.py written",
        "garage/cars/operations/__init__.py written",
        "garage/cars/operations/create.py written",
        "garage/cars/types.py written",
        "Now add 'garage.cars' to INSTALLED_APPS.",
        "Then: manage.py makemigrations garage_cars && manage.py migrate",
    ]


def test_a_component_that_was_written_holds_and_works(project, transactional_db):
    new("component", "garage.cars")
    project.install("garage.cars")

    assert check_manifests(None) == check_apps(None) == check_models(None) == []
    model = apps.get_model("garage_cars.Car")
    with connection.schema_editor() as editor:
        editor.create_model(model)
    try:
        identity = model.operations.create(name="Beetle").id
        assert str(model.objects.get(id=identity)) == "Beetle"
        assert toa.call("garage.cars.observe", id=identity).name == "Beetle"
    finally:
        bindings.reset()
        with connection.schema_editor() as editor:
            editor.delete_model(model)


def test_a_stateless_component_has_neither_model_nor_migrations(project):
    said = new("component", "garage", "--stateless")

    assert not (project.root / "garage" / "models.py").exists()
    assert said[-1] == "Now add 'garage' to INSTALLED_APPS."
    project.install("garage")
    assert (registry.component("garage").entity, check_manifests(None)) == (None, [])


def test_nothing_is_written_where_a_file_is_there_already(project):
    folder = project.root / "garage" / "cars"
    folder.mkdir(parents=True)
    (folder / "models.py").write_text("mine = True\n")

    with pytest.raises(CommandError, match=r"garage/cars/models\.py is there already; nothing was written"):
        new("component", "garage.cars")
    assert [path.name for path in folder.iterdir()] == ["models.py"]
    assert (folder / "models.py").read_text() == "mine = True\n"


@pytest.mark.parametrize("name", ["s", "ss", "_".join("xs"), "entity", "news"])
def test_a_component_of_any_name_has_a_model_that_can_be_read(project, name):
    new("component", f"garage.{name}")
    compile((project.root / "garage" / name / "models.py").read_text(), "models.py", "exec")


def test_what_cannot_be_written_is_told(project):
    (project.root / "garage").write_text("no folder")

    with pytest.raises(CommandError, match=r"garage/cars/__init__\.py cannot be written: "):
        new("component", "garage.cars")


@pytest.mark.parametrize(
    ("package", "message"),
    [
        (f"toa.garage.{'c' * 60}", "too long for a table"),
        ("garage.1cars", "is not a name"),
        ("garage.class", "is a word of Python"),
        ("garage..cars", "is not a name"),
        ("garage.my-cars", "is not a name"),
        ("garage.toa", "'toa' is taken"),
        (f"garage.{'c' * 60}", "too long for a table"),
    ],
)
def test_a_name_that_cannot_be_one_is_refused(project, package, message):
    with pytest.raises(CommandError, match=message):
        new("component", package)
    assert list(project.root.iterdir()) == []


OPERATIONS = [
    ("publish", [], {"query": True, "concurrency": "retry"}),
    ("publish_all", ["--entries"], {"query": True, "concurrency": "retry"}),
    ("look", ["--type", "observation"], None),
    ("look_all", ["--type", "observation", "--entries"], None),
    ("rename", ["--type", "assignment"], {"query": True}),
    ("price", ["--type", "computation"], None),
    ("notify", ["--type", "effect"], None),
    ("follow", ["--type", "workflow"], None),
]


def test_operations_of_every_type_hold_with_the_lines_that_are_printed_for_the_manifest(project):
    new("component", "garage.cars")
    project.install("garage.cars")
    manifest = project.root / "garage" / "cars" / "manifest.toa.yaml"
    for name, arguments, expected in OPERATIONS:
        said = new("operation", f"garage.cars.{name}", *arguments)
        assert said[:3] == [f"garage/cars/operations/{name}.py written", "Add to garage/cars/manifest.toa.yaml:", ""]
        lines = said[said.index("operations:") : said.index("", 3)]
        assert yaml.safe_load("\n".join(lines)) == {"operations": {name: expected}}
        manifest.write_text("\n".join([manifest.read_text().rstrip(), *lines[1:], ""]))

    loaded = load_path(manifest, "garage.cars")
    assert [str(problem) for problem in loaded.problems] == []
    assert loaded.spec is not None
    assert {name for name, _, _ in OPERATIONS} <= set(loaded.spec.operations)
    (project.root / "garage" / "cars" / "types.py").write_text(types_of(loaded.spec), encoding="utf-8")
    assert ruff("check", "--select", "F,E,I,UP,RUF") == "All checks passed!\n"
    assert ruff("format", "--check").endswith("already formatted\n")
    follow = project.root / "garage" / "cars" / "operations" / "follow.py"
    assert "async def workflow(input: None, context: WorkflowContext)" in follow.read_text(), "whose calls are awaited"
    assert mypy(project.root).startswith("Success: no issues found")


def test_an_operation_needs_its_component_and_touches_no_file(project):
    project.component("garage.cars", "description: Cars\n")
    project.install("garage.cars")

    with pytest.raises(CommandError, match=r"no component is called 'garage\.car'"):
        new("operation", "garage.car.publish")
    with pytest.raises(CommandError, match="has no entity, which a transition needs"):
        new("operation", "garage.cars.publish")
    with pytest.raises(CommandError, match="an effect is not over a set"):
        new("operation", "garage.cars.publish", "--type", "effect", "--entries")
    new("operation", "garage.cars.publish", "--type", "effect")
    with pytest.raises(CommandError, match="is there already; nothing was written"):
        new("operation", "garage.cars.publish", "--type", "effect")


def ruff(*arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "ruff", *arguments, "--isolated", "--target-version", "py311", "garage"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.stdout


def mypy(root: Path) -> str:
    """What mypy says under the project's own rules."""
    done = subprocess.run(
        [sys.executable, "-m", "mypy", str(root / "garage")],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        cwd=ROOT,
        env={**os.environ, "TOA_SERVERS": "off", "MYPYPATH": str(root)},
    )
    return done.stdout + done.stderr
