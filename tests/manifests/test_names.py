"""Names that are taken, held against what Django and toa really have."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from django.db import models

from toa.core.draft import Draft
from toa.core.specs import OperationType
from toa.manifests.identity import package_of
from toa.manifests.names import (
    DJANGO_NAMES,
    MAPPING_NAMES,
    OWN_NAMES,
    a_type,
    code_problem,
    is_model,
    name_problem,
    property_problem,
)
from toa.manifests.system import system_properties


def test_every_public_attribute_of_a_django_model_is_taken() -> None:
    public = {name for name in dir(models.Model) if not name.startswith("_")}
    assert public - DJANGO_NAMES == set()
    # Beside those of the class: what Django adds to each model, and what its next version has.
    added = {"DoesNotExist", "Meta", "MultipleObjectsReturned", "NotUpdated", "objects"}
    assert DJANGO_NAMES - public == added - public


def test_every_method_of_a_draft_is_taken() -> None:
    methods = {name for name in dir(Mapping) if not name.startswith("_")}
    assert methods == MAPPING_NAMES
    assert {name for name in dir(Draft) if not name.startswith("_")} == MAPPING_NAMES


def test_every_field_of_toas_own_is_taken() -> None:
    assert {spec.field for spec in system_properties(timed=True).values()} <= OWN_NAMES


@pytest.mark.parametrize(
    "name", ["a", "A1", "a_b", "x" * 63, "status", "match", "type", "state", "deadline", "timeout"]
)
def test_names_that_may_be_given(name: str) -> None:
    assert name_problem(name) is None
    assert property_problem(name) is None


@pytest.mark.parametrize("name", ["", "1a", "_a", "a-b", "a.b", "ä", "x" * 64, "None", "class", "a b", "a\n"])
def test_names_that_are_none(name: str) -> None:
    assert name_problem(name) is not None


@pytest.mark.parametrize("code", ["A", "NOT_PENDING", "E2"])
def test_codes(code: str) -> None:
    assert code_problem(code) is None
    assert code_problem(code.lower()) is not None


def test_models_and_articles() -> None:
    assert [is_model(text) for text in ("auth.User", "app_label.Model", "User", "a.b.C", "", "a.", "1.A")] == [
        True,
        True,
        False,
        False,
        False,
        False,
        False,
    ]
    assert [a_type(kind) for kind in OperationType] == [
        "a transition",
        "an observation",
        "an assignment",
        "a computation",
        "an effect",
        "a workflow",
    ]


@pytest.mark.parametrize(
    ("folders", "packages", "package"),
    [
        ("store/orders", ["store"], "store.orders"),
        ("store/orders", [], "store.orders"),
        ("loyalty", [], "loyalty"),
        ("src/loyalty", [], "loyalty"),
        ("src/store/orders", ["src/store"], "store.orders"),
        ("acme/shop/store/orders", ["acme", "acme/shop", "acme/shop/store"], "acme.shop.store.orders"),
        ("some-thing/orders", [], "orders"),
    ],
)
def test_the_package_of_a_directory(
    folders: str, packages: list[str], package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / folders).mkdir(parents=True)
    for name in packages:
        (tmp_path / name / "__init__.py").touch()
    assert package_of(tmp_path / folders, tmp_path) == package
    monkeypatch.chdir(tmp_path)
    assert package_of(Path(folders)) == package
