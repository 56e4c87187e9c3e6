"""Revisions leave by age in bounded steps; the latest of each object stays."""

import pytest

import toa
from tests.components.claims.models import Claim
from toa.cadence.actions.pruning import prune
from toa.core.identity import uuid7
from toa.models import Revision

pytestmark = pytest.mark.django_db

CLAIMS = "components.claims"
DAY = 86_400_000


def test_O7_old_revisions_go_in_steps_and_the_latest_of_each_object_stays(toa_clock):
    old, young = uuid7().hex, uuid7().hex
    for _ in range(5):
        toa.call(f"{CLAIMS}.set", {}, id=old)
    toa_clock.set(toa_clock.now + 31 * DAY)
    for _ in range(2):
        toa.call(f"{CLAIMS}.set", {}, id=young)
    steps = [one.rows for one in prune(30, step=3) if one.what == "revisions"]
    assert steps == [3, 1]
    kept = Revision.objects.filter(component=CLAIMS, entity__in=[old, young]).order_by("entity", "version")
    assert [(one.entity, one.version) for one in kept] == [(old, 5), (young, 1), (young, 2)]


def test_a_change_outside_is_still_seen_after_pruning(toa_clock):
    identity = uuid7().hex
    for _ in range(2):
        toa.call(f"{CLAIMS}.set", {}, id=identity)
    toa_clock.set(toa_clock.now + 31 * DAY)
    list(prune(30))
    Claim.objects.filter(id=identity).update(mode="outside")
    toa.call(f"{CLAIMS}.set", {}, id=identity)
    assert Revision.objects.get(entity=identity, version=3).outside
