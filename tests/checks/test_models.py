"""The checks of the models behind the components."""

from __future__ import annotations

import pytest
from django.apps import apps
from django.db import models
from django.db.models import F
from django.db.models.functions import Least
from django.db.models.signals import post_save, pre_save

from tests.components.tallies.models import Tally
from toa.checks.models import check_models, check_signals

LAPSING = """\
entity:
  properties:
    due: deadline
    name: string
operations:
  at_due: { query: true, concurrency: retry }
deadlines:
  due: ~
  timeout: { transition: at_due, lifetime: 7d }
"""
AT_DUE = "def transition(input, entry, context): entry.due = None"


def note(sender, **kwargs):
    """A receiver that a project might have."""


def test_the_models_of_this_checkout_are_in_order():
    assert check_models(None) == check_signals(None) == []


@pytest.mark.parametrize(("name", "signal"), [("pre_save", pre_save), ("post_save", post_save)])
@pytest.mark.parametrize("weak", [True, False])
def test_a_receiver_of_a_signal_that_operations_do_not_send_is_a_warning(name, signal, weak):
    signal.connect(note, sender=Tally, weak=weak)
    try:
        (found,) = check_signals(None)
    finally:
        signal.disconnect(note, sender=Tally)

    assert (found.id, found.obj) == ("toa.W101", Tally)
    assert found.msg == (f"{__name__}.note receives {name} of components_tallies.Tally, which operations do not send")
    assert "receivers:" in found.hint


def test_a_receiver_for_every_model_is_none():
    post_save.connect(note)
    try:
        assert check_signals(None) == []
    finally:
        post_save.disconnect(note)


def test_a_component_whose_model_is_missing_is_an_error(project):
    project.component("garage.cars", "entity: { properties: { name: string } }\n")
    project.install("garage.cars")

    (found,) = check_models(None)
    assert (found.id, found.obj) == ("toa.E107", "garage/cars/manifest.toa.yaml")
    assert found.msg == "garage.cars has an entity and no model"
    assert found.hint == "in garage/cars/models.py: class Cars(Entity)"


@pytest.mark.parametrize(
    ("indexes", "ids"),
    [
        ([], ["toa.E110"]),
        ([models.Index(fields=["due"], name="half")], ["toa.E110"]),
        ([models.Index(Least("due", "timeout_at"), "id", name="whole")], []),
        ([models.Index(F("due"), F("timeout_at"), name="columns")], []),
    ],
    ids=["none", "half of them", "an expression", "columns"],
)
def test_deadlines_need_an_index_that_holds_them_together(project, monkeypatch, indexes, ids):
    source = 'from toa import Entity\n\n\nclass Car(Entity):\n    """A car."""\n'
    project.component("garage.cars", LAPSING, models=source, at_due=AT_DUE)
    project.install("garage.cars")
    monkeypatch.setattr(apps.get_model("garage_cars.Car")._meta, "indexes", indexes)

    assert [one.id for one in check_models(None)] == ids
