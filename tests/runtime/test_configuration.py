"""Where the values of a component's configuration come from, and which are refused."""

from __future__ import annotations

import traceback
from dataclasses import replace
from decimal import Decimal

import pytest
from django.test import override_settings

import toa
from toa.exceptions import InvalidConfiguration
from toa.manifests import registry
from toa.runtime import bindings
from toa.runtime.configuration import (
    check_all,
    configuration_of,
    shared_variables,
    unknown_variables,
    variable,
    variables,
)

TALLIES = "components.tallies"


@pytest.fixture
def spec():
    """A component with a property of every kind that its environment can set."""
    properties = {
        "step": {"type": "integer", "minimum": 1, "default": 1},
        "ratio": {"type": "number"},
        "price": {"type": "number", "format": "decimal"},
        "strict": {"type": "boolean"},
        "window": {"type": "string", "format": "duration", "default": "1h"},
        "names": {"type": "array", "items": {"type": "string"}},
        "limits": {"type": "object", "additionalProperties": {"type": "integer"}},
        "expiry": {"enum": ["sweep", "alarm", 3]},
        "either": {"type": ["string", "integer"]},
    }
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return replace(registry.component(TALLIES), configuration=schema)


@pytest.mark.parametrize(
    ("variable", "text", "name", "value"),
    [
        ("TOA_COMPONENTS_TALLIES_STEP", "5", "step", 5),
        ("TOA_COMPONENTS_TALLIES_RATIO", "0.25", "ratio", 0.25),
        ("TOA_COMPONENTS_TALLIES_PRICE", "12.50", "price", Decimal("12.50")),
        ("TOA_COMPONENTS_TALLIES_STRICT", "true", "strict", True),
        ("TOA_COMPONENTS_TALLIES_WINDOW", "5s", "window", "5s"),
        ("TOA_COMPONENTS_TALLIES_NAMES", '["a", "b"]', "names", ["a", "b"]),
        ("TOA_COMPONENTS_TALLIES_LIMITS", '{"tea": 3}', "limits", {"tea": 3}),
        ("TOA_COMPONENTS_TALLIES_EXPIRY", "alarm", "expiry", "alarm"),
        ("TOA_COMPONENTS_TALLIES_EXPIRY", "3", "expiry", 3),
        ("TOA_COMPONENTS_TALLIES_EITHER", "3", "either", "3"),
        ("TOA_COMPONENTS_TALLIES_WINDOW", "", "window", "1h"),
    ],
)
def test_a_variable_is_read_as_its_property_says(spec, variable, text, name, value):
    found = configuration_of(spec, {variable: text})

    assert found[name] == value
    assert isinstance(found[name], type(value))


def test_the_environment_counts_over_the_settings_and_these_over_the_defaults(spec):
    with override_settings(TOA={"CONFIGURATION": {TALLIES: {"step": 2, "window": "2h"}}}):
        assert configuration_of(spec, {"TOA_COMPONENTS_TALLIES_STEP": "3"}) == {"step": 3, "window": "2h"}
    with override_settings(TOA={}):
        assert configuration_of(spec, {}) == {"step": 1, "window": "1h"}


@pytest.mark.parametrize(
    ("variable", "text", "message"),
    [
        ("TOA_COMPONENTS_TALLIES_STEP", "0", "TOA_COMPONENTS_TALLIES_STEP: /step: 0 is less than 1"),
        ("TOA_COMPONENTS_TALLIES_STEP", "many", "TOA_COMPONENTS_TALLIES_STEP: 'many' is not JSON"),
        ("TOA_COMPONENTS_TALLIES_STRICT", "yes", "TOA_COMPONENTS_TALLIES_STRICT: 'yes' is not JSON"),
        ("TOA_COMPONENTS_TALLIES_RATIO", "NaN", "TOA_COMPONENTS_TALLIES_RATIO: /ratio"),
        ("TOA_COMPONENTS_TALLIES_PRICE", "1.005", "TOA_COMPONENTS_TALLIES_PRICE: /price"),
        ("TOA_COMPONENTS_TALLIES_WINDOW", "soon", "TOA_COMPONENTS_TALLIES_WINDOW: /window"),
        ("TOA_COMPONENTS_TALLIES_LIMITS", '{"tea": "x"}', "TOA_COMPONENTS_TALLIES_LIMITS: /limits/tea"),
    ],
)
def test_an_unfit_variable_is_refused_by_its_name(spec, variable, text, message):
    with pytest.raises(InvalidConfiguration) as refusal:
        configuration_of(spec, {variable: text})

    assert refusal.value.message.startswith(message)
    assert refusal.value.hint == f"see `configuration` in {spec.path}"


def test_an_unfit_setting_is_refused_by_its_place_beside_an_unfit_variable(spec):
    values = {"ratio": "high", "colour": "red"}
    with (
        override_settings(TOA={"CONFIGURATION": {TALLIES: values}}),
        pytest.raises(InvalidConfiguration) as refusal,
    ):
        configuration_of(spec, {"TOA_COMPONENTS_TALLIES_STEP": "0"})

    place = f"TOA['CONFIGURATION']['{TALLIES}']"
    assert [origin for origin, _ in refusal.value.problems] == [place, place, "TOA_COMPONENTS_TALLIES_STEP"]


def with_token(spec, kind):
    """The component with a credential of a type, which as a text has six characters at most."""
    token = {"type": kind, "writeOnly": True, "maxLength": 6}
    properties = {**spec.configuration["properties"], "token": token}
    return replace(spec, configuration={**spec.configuration, "properties": properties})


def test_a_credential_is_the_text_that_it_is_and_is_shown_nowhere(spec):
    configuration = configuration_of(with_token(spec, "string"), {"TOA_COMPONENTS_TALLIES_TOKEN": "s3cret"})

    assert f"Bearer {configuration.token}" == "Bearer s3cret"
    assert repr(configuration) == "{'step': 2, 'token': '(hidden)', 'window': '1h'}"


@pytest.mark.parametrize(
    ("kind", "text"), [("string", "s3cret and more"), ("object", "s3cret"), ("object", '["s3cret"]')]
)
def test_an_unfit_credential_is_not_repeated(spec, kind, text):
    with pytest.raises(InvalidConfiguration, match="what it holds") as refusal:
        configuration_of(with_token(spec, kind), {"TOA_COMPONENTS_TALLIES_TOKEN": text})

    assert refusal.value.problems[0][0] == "TOA_COMPONENTS_TALLIES_TOKEN"
    assert "s3cret" not in "".join(traceback.format_exception(refusal.value))


def test_a_setting_that_is_no_mapping_is_refused(spec):
    with (
        override_settings(TOA={"CONFIGURATION": {TALLIES: [1]}}),
        pytest.raises(InvalidConfiguration, match="must be a mapping, not list"),
    ):
        configuration_of(spec, {})


def test_a_component_without_a_configuration_takes_no_values():
    with (
        override_settings(TOA={"CONFIGURATION": {"components.beacons": {"step": 1}}}),
        pytest.raises(InvalidConfiguration, match="'step' is not known here"),
    ):
        configuration_of(registry.component("components.beacons"), {})


def test_the_first_use_of_an_unfit_value_raises_and_nothing_is_written(toa_clock, monkeypatch):
    tally = toa.call(f"{TALLIES}.create", {"name": "first"})["id"]
    monkeypatch.setenv("TOA_COMPONENTS_TALLIES_STEP", "one")
    bindings.reset()
    try:
        with pytest.raises(InvalidConfiguration, match="TOA_COMPONENTS_TALLIES_STEP"):
            toa.call(f"{TALLIES}.count_once", id=tally)
        assert toa.call(f"{TALLIES}.observe", id=tally).VERSION == 1
        monkeypatch.setenv("TOA_COMPONENTS_TALLIES_STEP", "4")
        toa.call(f"{TALLIES}.count_once", id=tally)
        assert toa.call(f"{TALLIES}.observe", id=tally).count == 4
    finally:
        bindings.reset()


def test_all_components_are_checked_at_once():
    check_all({})
    unfit = {"TOA_COMPONENTS_TALLIES_STEP": "one", "TOA_STORE_ORDERS_WINDOW": "soon"}
    with pytest.raises(InvalidConfiguration) as refusal:
        check_all(unfit)

    assert {origin for origin, _ in refusal.value.problems} == set(unfit)


def test_variables_that_name_no_property_are_found_with_the_nearest(spec):
    given = {"TOA_STORE_ORDERS_WINDW": "5s", "TOA_STORE_ORDERS_WINDOW": "5s", "TOA_HOME": "/", "HOME": "/"}

    assert unknown_variables(given) == [("TOA_STORE_ORDERS_WINDW", "did you mean 'TOA_STORE_ORDERS_WINDOW'?")]
    assert variables(spec)[variable(spec, "step")] == "step"


def test_no_two_properties_share_a_variable(monkeypatch):
    assert shared_variables() == {}
    orders = registry.component("store.orders")
    twin = replace(orders, namespace="store", name="orders_w", configuration={"properties": {"x": {"type": "string"}}})
    orders = replace(orders, configuration={"properties": {"w_x": {"type": "string"}}})
    monkeypatch.setattr(registry, "all", lambda: {"store.orders": orders, "store.orders_w": twin})

    assert shared_variables() == {"TOA_STORE_ORDERS_W_X": ["store.orders.w_x", "store.orders_w.x"]}
