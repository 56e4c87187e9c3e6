"""Problems of manifests, as Django's checks tell them."""

from __future__ import annotations

from django.apps import apps

from toa.checks.manifests import check_apps, check_manifests, check_sorts
from toa.checks.messages import as_json, as_line

SWEPT = """\
entity:
  properties:
    status: { type: string, enum: [open, closed] }
    until: { type: integer, format: epoch-millis }
    rank: integer
operations:
  close: { query: true, concurrency: retry, input: { type: object } }
cadence:
  close:
    cycle: 300
    query: { criteria: "status==open;until<$now", limit: 10, sort: [until] }
    input: {}
"""
CLOSE = "def transition(input, entry, context): entry.status = 'closed'"


def test_M1_three_mistakes_in_two_manifests_are_told_at_once_each_with_its_place_and_hint(project):
    project.component(
        "garage.cars",
        "entity:\n  properties:\n    colour: strng\ncadence:\n  washs: 300\n",
        wash="def effect(input, context): ...",
    )
    project.component(
        "garage.lifts",
        "receivers:\n  garage.cars.creatd: { operation: raised }\n",
        raised="def effect(input, context): ...",
    )
    project.install("garage.cars", "garage.lifts")

    found = [message for message in check_manifests(None) if "garage" in str(message.obj)]
    assert [(str(one.obj), one.id, one.msg, one.hint) for one in found] == [
        (
            "garage/cars/manifest.toa.yaml:3:13",
            "toa.E009",
            "entity.properties.colour: no type is called 'strng'",
            "did you mean 'string'?",
        ),
        (
            "garage/cars/manifest.toa.yaml:5:3",
            "toa.E012",
            "cadence.washs: no operation is called 'washs'",
            "did you mean 'wash'?",
        ),
        (
            "garage/lifts/manifest.toa.yaml:2:3",
            "toa.E023",
            "receivers.garage.cars.creatd: 'garage.cars' has no event called 'creatd'",
            "did you mean 'created'?",
        ),
    ]
    assert str(found[1]) == (
        "garage/cars/manifest.toa.yaml:5:3: (toa.E012) cadence.washs: no operation is called 'washs'"
        "\n\tHINT: did you mean 'wash'?"
    )
    assert as_line(found[1]) == (
        "garage/cars/manifest.toa.yaml:5:3: cadence.washs: no operation is called 'washs';"
        " did you mean 'wash'? [toa.E012]"
    )
    assert as_json(found[1]) == {
        "path": "garage/cars/manifest.toa.yaml",
        "line": 5,
        "column": 3,
        "where": "cadence.washs",
        "message": "no operation is called 'washs'",
        "id": "toa.E012",
        "hint": "did you mean 'wash'?",
        "level": "error",
    }


def test_the_project_of_this_checkout_has_no_problem():
    assert check_manifests(None) == check_apps(None) == check_sorts(None) == []


def test_only_the_apps_that_are_asked_for_are_told_about(project):
    for name in ("cars", "lifts"):
        project.component(f"garage.{name}", "entity: { properties: { colour: strng } }\n")
    project.install("garage.cars", "garage.lifts")

    found = check_manifests([apps.get_app_config("garage_lifts")])
    assert [str(one.obj) for one in found] == ["garage/lifts/manifest.toa.yaml:1:33"]


def test_a_timer_in_memory_is_told_with_its_file_and_line(project):
    source = "import time\n\n\ndef effect(input, context):\n    time.sleep(3)\n"
    project.component("garage.cars", "description: Cars\n", wash=source)
    project.install("garage.cars")

    (found,) = check_manifests(None)
    assert (str(found.obj), found.id) == ("garage/cars/operations/wash.py:5:1", "toa.W002")
    assert found.msg == "time.sleep waits in memory and is lost with its process"
    assert "context.delay" in found.hint


def test_a_manifest_that_nothing_would_load_is_told(project):
    plain = "from django.apps import AppConfig\n\n\nclass Config(AppConfig):\n    name = 'garage.cars'\n"
    project.component("garage.cars", "description: Cars\n", apps=plain)
    project.install("garage.cars")

    (found,) = check_apps(None)
    assert (found.obj, found.id) == ("garage.cars", "toa.E108")
    assert found.hint == "in garage/cars/apps.py: class CarsConfig(ComponentConfig)"


def test_a_sweep_without_an_index_is_told_once_for_its_criteria_and_once_for_its_order(project):
    project.component("garage.cars", SWEPT, models=entity(), close=CLOSE)
    project.install("garage.cars")

    assert [(one.id, str(one.obj)) for one in [*check_manifests(None), *check_sorts(None)]] == [
        ("toa.W001", "garage/cars/manifest.toa.yaml:11:24"),
        ("toa.W102", "garage/cars/manifest.toa.yaml"),
    ]
    (order,) = check_sorts(None)
    assert order.msg == "no index gives the order [until] of the sweep garage.cars.close: each call sorts all that fits"


def test_an_index_in_the_models_class_body_serves_a_sweep_as_one_of_the_manifest_does(project):
    index = "models.Index(fields=['until'], condition=models.Q(status='open', deleted_at=None), name='open')"
    project.component("garage.cars", SWEPT, models=entity(index), close=CLOSE)
    project.component("garage.vans", SWEPT + "  \n", models=entity(), close=CLOSE)
    declared = SWEPT.replace("operations:", "  index:\n    open: { on: [until], where: status==open }\noperations:")
    project.component("garage.bikes", declared, models=entity(), close=CLOSE)
    project.install("garage.cars", "garage.vans", "garage.bikes")

    found = [str(one.obj) for one in [*check_manifests(None), *check_sorts(None)]]
    assert found == ["garage/vans/manifest.toa.yaml:11:24", "garage/vans/manifest.toa.yaml"]


def test_an_order_is_given_by_an_index_behind_what_criteria_fix_and_by_none_with_another_condition(project):
    cases = {
        "behind": ("models.Index(fields=['status', 'until'], name='i')", True),
        "backwards": ("models.Index(fields=['status', '-until'], name='i')", True),
        "other": ("models.Index(fields=['until'], condition=models.Q(status='closed'), name='i')", False),
        "unreadable": (
            "models.Index(fields=['until'], condition=models.Q(until__gt=models.F('rank')), name='i')",
            False,
        ),
        "second": ("models.Index(fields=['rank', 'until'], name='i')", False),
    }
    for name, (index, _) in cases.items():
        project.component(f"garage.{name}", SWEPT, models=entity(index), close=CLOSE)
    project.install(*(f"garage.{name}" for name in cases))

    told = {str(one.obj).split("/")[1] for one in check_sorts(None)}
    assert told == {name for name, (_, served) in cases.items() if not served}


def entity(*indexes: str) -> str:
    meta = f"\n    class Meta:\n        indexes = [{', '.join(indexes)}]\n" if indexes else ""
    return f'from django.db import models\n\nfrom toa import Entity\n\n\nclass Car(Entity):\n    """A car."""\n{meta}'
