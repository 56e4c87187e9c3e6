"""T23: deadlines are added and removed while two releases run side by side, each with an index of its own."""

import shutil
import sys
from pathlib import Path

import pytest
from django.apps.registry import Apps
from django.db import IntegrityError, connection
from django.db.migrations.autodetector import MigrationAutodetector
from django.db.migrations.operations import AddIndex, RemoveIndex
from django.db.migrations.state import ModelState, ProjectState

from tests.components.claims.models import Claim
from tests.components.claims.operations import at_a
from toa.cadence import serving
from toa.cadence.deadlines import indexed
from toa.cadence.deadlines.due import components, looks
from toa.cadence.sources import horizon
from toa.checks.deadlines import check_indexes
from toa.checks.models import check_models
from toa.core.clock import to_datetime
from toa.core.identity import uuid7
from toa.manifests import registry
from toa.models import Entity
from toa.models.schedule_indexes import due_index_name
from toa.runtime import bindings
from toa.runtime.bindings import Component
from toa.runtime.table import Table

TWO = """
entity:
  required: [name]
  properties:
    name: { type: string, maxLength: 32 }
    pay_by: deadline
    remind: deadline
deadlines:
  pay_by: act
  remind: act
operations:
  act: { query: true, concurrency: retry }
"""
THREE = TWO.replace("deadlines:\n", "    expire: deadline\ndeadlines:\n  expire: act\n")
ONE = TWO.replace("    remind: deadline\n", "    remind: { type: integer, format: epoch-millis }\n").replace(
    "  remind: act\n", ""
)
HOUR = 3_600_000


class Release:
    """One release of a component: its manifest, its model, and what migrations know of it."""

    def __init__(self, folder, label, manifest, kept):
        self.folder = folder
        name = folder.name
        (folder / "operations").mkdir(parents=True)
        for package in (folder, folder / "operations"):
            (package / "__init__.py").touch()
        (folder / "operations" / "act.py").write_text("def transition(input, entry, context):\n    pass\n")
        (folder / "manifest.toa.yaml").write_text(f"namespace: rolling\nname: {label}\n{manifest}")
        meta = type("Meta", (), {"app_label": "rolling", "db_table": "rolling_thing", "apps": Apps()})
        body = {"__module__": f"{name}.models", "Meta": meta, "kept_deadlines": kept}
        self.model = type(Entity)("Thing", (Entity,), body)
        self.spec = registry.component_of_package(name)
        assert [str(one) for one in registry.problems() if name in one.path and one.level == "error"] == []
        self.project = ProjectState()
        self.project.add_model(ModelState.from_model(self.model))

    @property
    def component(self):
        made = Component(self.spec)
        made.__dict__["table"] = Table(self.spec.entity, self.model)
        return made

    @property
    def index(self):
        return due_index_name(self.spec)


@pytest.fixture
def release(tmp_path, monkeypatch):
    """Write a release of one component, always of the same name, into a package of its own."""
    monkeypatch.syspath_prepend(str(tmp_path))
    number = iter(range(100))
    made = []

    def write(manifest, kept=()):
        for one in made:
            # Two releases are never in one checkout: the registry would refuse the name twice.
            shutil.rmtree(one.folder, ignore_errors=True)
        registry.reset()
        registry.register(packages)
        folder = Path(tmp_path, f"rolling{next(number)}_{tmp_path.name.replace('-', '_')}")
        made.append(Release(folder, "thing", manifest, kept))
        return made[-1]

    packages = [spec.package for spec in registry.all().values()]
    yield write
    registry.reset()
    registry.register(packages)
    bindings.reset()
    for name in [name for name in sys.modules if name.startswith("rolling")]:
        del sys.modules[name]


def operations(before, after):
    changes = MigrationAutodetector(before.project, after.project)._detect_changes()
    return [operation for migration in changes.get("rolling", []) for operation in migration.operations]


def migrate(before, found):
    """Run operations on the database, one after another; returns the state after them."""
    state = before.clone()
    with connection.schema_editor() as editor:
        for operation in found:
            after = state.clone()
            operation.state_forwards("rolling", after)
            operation.database_forwards("rolling", editor, state, after)
            state = after
    return state


@pytest.fixture
def table(release):
    """The table of a release with two deadlines and 3,000 rows, each due at a moment of its own."""

    def make(manifest=TWO):
        first = release(manifest)
        with connection.schema_editor() as editor:
            editor.create_model(first.project.apps.get_model("rolling", "Thing"))
        with connection.cursor() as cursor:
            cursor.execute(
                "INSERT INTO rolling_thing (id, name, pay_by, created_at, updated_at, version)"
                " SELECT gen_random_uuid(), 'n' || n, timestamptz '2026-01-05 12:00Z' + n * interval '1 hour',"
                " now(), now(), 1 FROM generate_series(1, 3000) n"
            )
            cursor.execute("ANALYZE rolling_thing")
        return first

    return make


def file_of_table():
    with connection.cursor() as cursor:
        cursor.execute("SELECT relfilenode FROM pg_class WHERE oid = 'rolling_thing'::regclass")
        return cursor.fetchone()[0]


def indexes():
    with connection.cursor() as cursor:
        cursor.execute("SELECT indexname FROM pg_indexes WHERE tablename = 'rolling_thing'")
        return {row[0] for row in cursor.fetchall()}


def claims_by(component, index):
    """Whether a claim of that release's code finds its due rows by that index.

    Before the first ANALYZE the planner knows nothing of the index's expression, and may sort what it finds by it.
    """
    plan = plan_of(component)
    return index in plan and "Seq Scan" not in plan


def plan_of(component):
    """How a claim of that release's code finds its due rows."""
    moment, condition, order = looks(component)[0]
    with connection.cursor() as cursor:
        cursor.execute(
            f"EXPLAIN SELECT c.id FROM rolling_thing c WHERE {condition} AND {moment} <= '2026-01-05 15:00Z'"
            f" ORDER BY {order} LIMIT 100"
        )
        return "\n".join(row[0] for row in cursor.fetchall())


def due_of(component):
    moment, condition, order = looks(component)[0]
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT c.name FROM rolling_thing c WHERE {condition} AND {moment} <= '2026-01-05 15:00Z' ORDER BY {order}"
        )
        return [row[0] for row in cursor.fetchall()]


def test_T23_another_set_of_deadlines_is_another_index_by_two_operations(release):
    two, three = release(TWO), release(THREE)
    assert two.index != three.index
    found = operations(two, three)
    assert [type(one).__name__ for one in found] == ["RemoveIndex", "AddField", "AddIndex"]
    assert [one.name for one in found if isinstance(one, RemoveIndex)] == [two.index]
    assert [one.index.name for one in found if isinstance(one, AddIndex)] == [three.index]


def test_T23_a_kept_set_leaves_its_index_for_a_release(release):
    two, both, three = release(TWO), release(THREE, [["pay_by", "remind"]]), release(THREE)
    assert [type(one).__name__ for one in operations(two, both)] == ["AddField", "AddIndex"]
    (later,) = operations(both, three)
    assert (type(later).__name__, later.name) == ("RemoveIndex", two.index)
    assert operations(two, release(TWO, [["pay_by", "remind"]])) == [], "the set of the manifest is not kept twice"


@pytest.mark.django_db(transaction=True)
def test_T23_old_and_new_code_claim_by_an_index_and_nothing_is_missed(release, table):
    old = table()
    before = file_of_table()
    new = release(THREE, [["pay_by", "remind"]])
    state = migrate(old.project, operations(old, new))
    try:
        assert file_of_table() == before, "no table is rewritten"
        assert {old.index, new.index} <= indexes()
        with connection.cursor() as cursor:
            # What the new code sets alone is the new code's to find; the rest both find.
            cursor.execute("UPDATE rolling_thing SET expire = '2026-01-05 12:30Z' WHERE name = 'n2000'")
        assert claims_by(old.component, old.index)
        assert claims_by(new.component, new.index)
        assert due_of(old.component) == ["n1", "n2", "n3"]
        assert due_of(new.component) == ["n2000", "n1", "n2", "n3"]
        last = release(THREE)
        migrate(state, operations(new, last))
        assert file_of_table() == before
        assert (old.index in indexes(), new.index in indexes()) == (False, True)
    finally:
        with connection.cursor() as cursor:
            cursor.execute("DROP TABLE rolling_thing")


@pytest.mark.django_db(transaction=True)
def test_T23_a_deadline_is_removed_in_two_releases(release, table):
    old = table()
    before = file_of_table()
    new = release(ONE, [["pay_by", "remind"]])
    try:
        state = migrate(old.project, operations(old, new))
        assert {old.index, new.index} <= indexes()
        assert claims_by(old.component, old.index)
        assert claims_by(new.component, new.index)
        last = release(ONE.replace("    remind: { type: integer, format: epoch-millis }\n", ""))
        found = operations(new, last)
        assert [type(one).__name__ for one in found] == ["RemoveIndex", "RemoveField"]
        migrate(state, found)
        assert file_of_table() == before
    finally:
        with connection.cursor() as cursor:
            cursor.execute("DROP TABLE rolling_thing")


def test_T23_a_kept_set_that_names_no_moment_is_an_error(release, monkeypatch):
    one = release(THREE, [["pay_by", "gone"]])
    assert len(operations(release(TWO), release(THREE, [["gone"]]))) == 3, "its index is left out"
    monkeypatch.setattr("toa.checks.models.model_of", lambda spec: one.model)
    found = [check for check in check_models(None) if check.id == "toa.E111"]
    assert any("names gone, which is no moment of it" in check.msg for check in found)


@pytest.fixture
def broken_index(db):
    """The claims of the tests without the index of their deadlines."""
    name = due_index_name(next(one.spec for one in components() if one.locator == "components.claims"))
    with connection.cursor() as cursor:
        cursor.execute(f"DROP INDEX {name}")
    return name


def restore(name):
    with connection.schema_editor() as editor:
        editor.add_index(Claim, next(one for one in Claim._meta.indexes if one.name == name))


def test_T23_the_database_check_tells_of_a_missing_index(broken_index):
    (found,) = check_indexes(None, databases=["default"])
    assert (found.id, found.obj, found.is_serious()) == ("toa.W105", "components.claims", False)
    assert f"the index {broken_index} is missing" in found.msg


def test_T23_the_database_check_is_content_with_all_of_them(db):
    assert check_indexes(None, databases=["default"]) == []
    assert check_indexes(None, databases=[]) == []


@pytest.mark.django_db(transaction=True)
def test_T23_an_index_that_a_concurrent_build_left_behind_is_not_enough(broken_index):
    now = to_datetime(0)
    for _ in range(2):
        Claim.objects.create(id=uuid7(), log=[], created_at=now, updated_at=now, version=1)
    with connection.cursor() as cursor, pytest.raises(IntegrityError):
        cursor.execute(f"CREATE UNIQUE INDEX CONCURRENTLY {broken_index} ON components_claims_claim (version)")
    try:
        (found,) = check_indexes(None, databases=["default"])
        assert f"the index {broken_index} is not valid" in found.msg
    finally:
        with connection.cursor() as cursor:
            cursor.execute(f"DROP INDEX {broken_index}")
        restore(broken_index)


def test_T23_a_serving_process_claims_nothing_without_the_index_and_everything_with_it(
    broken_index, toa_clock, monkeypatch, caplog
):
    at_a.TRIES.clear()
    now = to_datetime(toa_clock.now)
    Claim.objects.create(id=uuid7(), log=[], a=now, created_at=now, updated_at=now, version=1)
    monkeypatch.setattr(serving, "_looking", True)
    indexed.forget()
    try:
        toa_clock.run_until_idle()
        assert at_a.TRIES == []
        assert horizon().due is None
        assert f"the deadlines of components.claims wait: the index {broken_index} is missing" in caplog.text
        restore(broken_index)
        indexed.forget()
        toa_clock.run_until_idle()
        assert len(at_a.TRIES) == 1
    finally:
        indexed.forget()
