"""The manifest is the model: a changed property is a migration."""

import shutil
from pathlib import Path

import pytest
from django.apps.registry import Apps
from django.db import models
from django.db.migrations.autodetector import MigrationAutodetector
from django.db.migrations.state import ModelState, ProjectState

from toa.manifests import registry
from toa.models import Entity
from toa.runtime import bindings

MANIFEST = """
entity:
  required: [name]
  properties:
    name: { type: string, maxLength: 32 }
    count: integer
"""


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Write a manifest into a package of its own; returns the state that its model has in migrations."""
    monkeypatch.syspath_prepend(str(tmp_path))
    number = iter(range(100))

    def state(manifest):
        name = f"evolving{next(number)}_{tmp_path.name.replace('-', '_')}"
        folder = Path(tmp_path, name)
        folder.mkdir()
        (folder / "__init__.py").touch()
        (folder / "manifest.toa.yaml").write_text(manifest)
        meta = type("Meta", (), {"app_label": "evolving", "apps": Apps()})
        model = type(Entity)("Thing", (Entity,), {"__module__": f"{name}.models", "Meta": meta})
        assert not [problem for problem in registry.problems() if name in problem.path]
        project = ProjectState()
        project.add_model(ModelState.from_model(model))
        shutil.rmtree(folder)
        return project

    packages = [spec.package for spec in registry.all().values()]
    yield state
    registry.reset()
    registry.register(packages)
    bindings.reset()


def operations(before, after):
    """What `makemigrations` would write between two states."""
    changes = MigrationAutodetector(before, after)._detect_changes()
    return [operation for migration in changes.get("evolving", []) for operation in migration.operations]


def test_M5_a_changed_property_writes_a_migration(package):
    before = package(MANIFEST)
    after = package(MANIFEST + "    colour: { type: string, enum: [red, green] }\n")
    (added,) = operations(before, after)
    assert (type(added).__name__, added.name, type(added.field)) == ("AddField", "colour", models.TextField)
    longer = package(MANIFEST.replace("32", "64"))
    (altered,) = operations(before, longer)
    assert (type(altered).__name__, altered.name, altered.field.max_length) == ("AlterField", "name", 64)
    (removed,) = operations(after, before)
    assert (type(removed).__name__, removed.name) == ("RemoveField", "colour")


def test_M5_an_unchanged_manifest_writes_none(package):
    assert operations(package(MANIFEST), package(MANIFEST)) == []
    assert operations(package(MANIFEST), package(MANIFEST + "# a comment\n")) == []
