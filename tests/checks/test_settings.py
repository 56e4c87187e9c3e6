"""The checks of `TOA`, of cadences and configurations of an environment."""

from __future__ import annotations

import pytest
from django.test import override_settings

from toa.checks.settings import check_cadence, check_configuration, check_environment, check_settings


def told(messages):
    return [(message.id, message.obj, message.msg, message.hint) for message in messages]


def test_settings_that_hold_are_silent():
    assert check_settings(None) == check_configuration(None) == check_environment(None) == check_cadence(None) == []


def test_every_key_and_value_of_TOA_is_told_about_at_once():
    values = {"CADANCE": {}, "DATABASE": "other", "SHARED_CLOCK": 1, "HISTORY_DAYS": "30", "CONFIGURATION": []}
    with override_settings(TOA=values):
        found = told(check_settings(None))

    assert found == [
        ("toa.E104", "settings.TOA", "no key is called 'CADANCE'", "did you mean 'CADENCE'?"),
        ("toa.E104", "settings.TOA", "DATABASE names no database: 'other' is none of default", None),
        ("toa.E104", "settings.TOA", "SHARED_CLOCK must be True or False, not 1", None),
        ("toa.E104", "settings.TOA", "HISTORY_DAYS must be a whole number from 0, not '30'", None),
        ("toa.E104", "settings.TOA", "CONFIGURATION must be a mapping, not list", None),
    ]


def test_TOA_that_is_no_mapping_is_told():
    with override_settings(TOA=["CADENCE"]):
        assert told(check_settings(None)) == [("toa.E104", "settings.TOA", "must be a mapping, not list", None)]
        assert check_configuration(None) == check_cadence(None) == []


def test_configuration_that_does_not_fit_is_told_by_where_it_was_given(monkeypatch):
    monkeypatch.setenv("TOA_STORE_ORDERS_WINDOW", "soon")
    values = {"store.orders": {"limit": -1, "windw": "1h"}}
    with override_settings(TOA={"CONFIGURATION": values}):
        found = told(check_configuration(None))

    setting, hint = "TOA['CONFIGURATION']['store.orders']", "see `configuration` in store/orders/manifest.toa.yaml"
    assert found == [
        ("toa.E105", setting, "/limit: -1 is less than 0", hint),
        ("toa.E105", "TOA_STORE_ORDERS_WINDOW", "/window: 'soon' is no duration, such as 1d12h", hint),
        ("toa.E105", setting, "/windw: 'windw' is not known here; did you mean 'window'?", hint),
    ]


def test_configuration_of_a_component_that_is_not_there_is_told_with_the_nearest():
    with override_settings(TOA={"CONFIGURATION": {"store.order": {"window": "1h"}}}):
        assert told(check_configuration(None)) == [
            (
                "toa.E105",
                "settings.TOA['CONFIGURATION']",
                "no component is called 'store.order'",
                "did you mean 'store.orders'?",
            )
        ]


def test_a_variable_that_names_no_property_is_a_warning(monkeypatch):
    monkeypatch.setenv("TOA_STORE_ORDERS_WINDW", "5s")
    monkeypatch.setenv("TOA_COMPONENTS_LEDGERS_SIZE", "5")

    assert told(check_environment(None)) == [
        (
            "toa.W103",
            "TOA_COMPONENTS_LEDGERS_SIZE",
            "no property is set by this variable",
            "components.ledgers has no configuration",
        ),
        (
            "toa.W103",
            "TOA_STORE_ORDERS_WINDW",
            "no property is set by this variable",
            "did you mean 'TOA_STORE_ORDERS_WINDOW'?",
        ),
    ]


def test_one_variable_for_two_properties_is_an_error(project):
    project.component("garage.cars_big", "configuration: { properties: { size: integer } }\n")
    project.component("garage.cars", "configuration: { properties: { big_size: integer } }\n")
    project.install("garage.cars", "garage.cars_big")

    assert told(check_environment(None)) == [
        (
            "toa.E109",
            "TOA_GARAGE_CARS_BIG_SIZE",
            "the variable stands for garage.cars.big_size and garage.cars_big.size",
            "give one of the properties another name",
        )
    ]


@pytest.mark.parametrize(
    ("cadence", "message", "hint"),
    [
        (
            {"store.orders.expires": 5},
            "no pulse or schedule is called 'store.orders.expires'",
            "did you mean 'store.orders.expire'?",
        ),
        (
            {"components.beacons.ping": 0.5},
            "TOA['CADENCE']['components.beacons.ping']",
            "a second is the shortest gap",
        ),
        (
            {"components.beacons.ping": "soon"},
            "TOA['CADENCE']['components.beacons.ping']: schedule: a schedule has 5 fields",
            "minute hour day-of-month month day-of-week",
        ),
        (
            {"components.beacons.ping": {"intervals": "two"}},
            "TOA['CADENCE']['components.beacons.ping']",
            "numbers are plain digits",
        ),
    ],
)
def test_a_cadence_of_the_environment_is_checked_as_one_of_the_manifest_is(cadence, message, hint):
    with override_settings(TOA={"CADENCE": cadence}):
        (found,) = check_cadence(None)

    assert (found.id, found.obj, found.hint) == ("toa.E106", "settings.TOA['CADENCE']", hint)
    assert found.msg.startswith(message)


def test_a_cadence_that_holds_is_silent():
    with override_settings(TOA={"CADENCE": {"store.orders.expire": 1, "components.beacons.ping": {"cycle": 60}}}):
        assert check_cadence(None) == []
