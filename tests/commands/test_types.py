"""`manage.py toa types`."""

from __future__ import annotations

import json
from io import StringIO

import pytest
from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError

from toa.manifests import registry
from toa.manifests.types.component import types_of

MANIFEST = "entity: { properties: { name: string } }\n"


def run(*arguments: str) -> tuple[int, str]:
    out = StringIO()
    try:
        call_command("toa", "types", *arguments, stdout=out)
    except SystemExit as ended:
        return int(ended.code or 0), out.getvalue()
    return 0, out.getvalue()


@pytest.fixture
def cars(project):
    """A component of a project of its own; returns the path of its types."""
    project.component("garage.cars", MANIFEST)
    project.install("garage.cars")
    return project.root / "garage" / "cars" / "types.py"


def test_types_are_written_for_each_component_below_the_working_directory(cars):
    assert run() == (0, "garage/cars/types.py written\n0 of 1 were as they should be\n")
    assert cars.read_text(encoding="utf-8") == types_of(registry.component("garage.cars"))
    assert run() == (0, "1 of 1 were as they should be\n")


def test_with_check_nothing_is_written_and_stale_files_are_named(cars):
    assert run("--check") == (1, "garage/cars/types.py is stale: manage.py toa types\n0 of 1 were as they should be\n")
    assert not cars.exists()
    run()
    assert run("--check") == (0, "1 of 1 were as they should be\n")
    cars.write_text(cars.read_text(encoding="utf-8").replace("str", "int"), encoding="utf-8")
    code, said = run("--check", "--json")
    assert (code, json.loads(said)) == (1, {"stale": ["garage/cars/types.py"]})
    assert json.loads(run("--json")[1]) == {"written": ["garage/cars/types.py"]}


def test_where_there_is_no_component_it_says_so(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CommandError, match="no component lies below"):
        run()


def test_a_component_may_be_named(cars):
    assert run("garage.cars", "--check")[0] == 1
    with pytest.raises(CommandError, match=r"no component is called 'garage\.car'.*'garage\.cars'"):
        run("garage.car")


def test_a_component_that_does_not_hold_gets_no_types(project):
    project.component("garage.cars", "entity: { properties: { name: strng } }\n")
    project.install("garage.cars")

    with pytest.raises(CommandError, match=r"garage/cars/manifest\.toa\.yaml:1:31: .*did you mean 'string'"):
        run()
    assert not (project.root / "garage" / "cars" / "types.py").exists()


def test_the_shop_has_the_types_that_its_manifests_say():
    assert run("--check", *settings.COMPONENTS)[0] == 0
