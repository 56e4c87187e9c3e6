"""The manifest is the model: a changed property is a migration."""

import shutil
from decimal import Decimal
from pathlib import Path

import pytest
from django.apps.registry import Apps
from django.db import connection, models
from django.db.migrations.autodetector import MigrationAutodetector
from django.db.migrations.questioner import MigrationQuestioner
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


class Changes:
    """A table in the database that follows a manifest through its changes."""

    def __init__(self, state):
        self.state = state
        with connection.schema_editor() as editor:
            editor.create_model(self.model)

    @property
    def model(self):
        return self.state.apps.get_model("evolving", "thing")

    def to(self, after, *, renamed=False):
        """Make the table as `makemigrations` and `migrate` would; returns the kinds of operations."""
        questioner = MigrationQuestioner({"ask_rename": renamed}, specified_apps={"evolving"})
        found = MigrationAutodetector(self.state, after, questioner)._detect_changes()
        kinds = []
        for migration in found.get("evolving", []):
            for operation in migration.operations:
                before, self.state = self.state, self.state.clone()
                operation.state_forwards("evolving", self.state)
                with connection.schema_editor() as editor:
                    operation.database_forwards("evolving", editor, before, self.state)
                kinds.append(type(operation).__name__)
        return kinds


@pytest.fixture
def table(package, transactional_db):
    """The table of MANIFEST, with one row in it, gone after the test."""
    changes = Changes(package(MANIFEST))
    changes.model.objects.create(name="first", count=3)
    yield changes
    with connection.schema_editor() as editor:
        editor.delete_model(changes.model)


def test_a_renamed_property_keeps_its_values(package, table):
    assert table.to(package(MANIFEST.replace("count:", "number:")), renamed=True) == ["RenameField"]
    assert table.model.objects.get().number == 3


def test_a_new_required_property_has_the_value_of_the_blank_in_rows_that_are_there(package, table):
    manifest = MANIFEST.replace("[name]", "[name, colour, price, tags]").replace(
        "  properties:", '  blank: { colour: red, price: "1.50", tags: [] }\n  properties:'
    )
    more = "    colour: string\n    price: { type: number, format: decimal }\n    tags: array\n"
    assert table.to(package(manifest + more)) == ["AddField"] * 3
    row = table.model.objects.get()
    assert (row.colour, row.price, row.tags, row.count) == ("red", Decimal("1.50"), [], 3)


def test_a_changed_type_converts_what_is_there(package, table):
    assert table.to(package(MANIFEST.replace("count: integer", "count: number"))) == ["AlterField"]
    assert table.model.objects.get().count == 3.0
    assert table.to(package(MANIFEST.replace("count: integer", "count: string"))) == ["AlterField"]
    assert table.model.objects.get().count == "3"


def test_a_property_that_becomes_required_takes_the_blank_where_it_was_null(package, table):
    table.model.objects.create(name="second", count=None)
    manifest = MANIFEST.replace("[name]", "[name, count]").replace(
        "  properties:", "  blank: { count: 7 }\n  properties:"
    )
    assert table.to(package(manifest)) == ["AlterField"]
    assert list(table.model.objects.order_by("name").values_list("count", flat=True)) == [3, 7]
