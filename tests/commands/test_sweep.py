"""`toa sweep`: of a declared sweep, and of an effect that sweeps in code."""

import json
from io import StringIO

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

import toa
from store.orders.models import Order
from tests.components.beacons.models import Beacon
from tests.orders.placing import fill, place

pytestmark = pytest.mark.django_db

LAPSE, EXPIRE = "components.beacons.lapse", "store.orders.expire"
HOUR = 3_600_000


def run(*arguments: str, code: int = 0) -> str:
    out = StringIO()
    if code:
        with pytest.raises(SystemExit) as ended:
            call_command("toa", "sweep", *arguments, stdout=out)
        assert ended.value.code == code
    else:
        call_command("toa", "sweep", *arguments, stdout=out)
    return out.getvalue()


@pytest.fixture
def beacons(toa_clock):
    """Seven that are due, oldest first, and one that is not."""
    now = toa_clock.now - toa_clock.now % 1000
    toa_clock.set(now + HOUR)
    ids = [toa.call("components.beacons.create", {"until": now + offset})["id"] for offset in (1, 2, 3, 4, 5, 6, 8)]
    toa.call("components.beacons.create", {"until": now + 99 * HOUR})
    return ids


def test_whom_a_declared_sweep_would_call_is_listed_and_nobody_called(beacons):
    assert run(LAPSE, "--dry-run").splitlines() == [*beacons[:3], "3 would be called"]
    assert json.loads(run(LAPSE, "--dry-run", "--limit", "5", "--json")) == {"would_call": beacons[:5]}
    assert not Beacon.objects.filter(open=False).exists()


def test_one_round_takes_as_many_as_declared_or_asked_for(beacons):
    assert run(LAPSE) == "round 1: 3 made\n"
    assert run(LAPSE, "--limit", "1") == "round 1: 1 made\n"
    assert Beacon.objects.filter(open=False).count() == 4


def test_until_dry_goes_on_round_after_round(beacons):
    assert run(LAPSE, "--until-dry").splitlines() == [
        "round 1: 3 made",
        "round 2: 3 made",
        "round 3: 1 made",
        "round 4: nothing to do",
        "4 rounds: 7 made",
    ]


def test_what_cannot_be_done_ends_it_and_is_said_by_the_exit_code(beacons, toa_clock):
    now = toa_clock.now - HOUR
    for offset in (7, 13):
        toa.call("components.beacons.create", {"until": now + offset - 1000})
    document = json.loads(run(LAPSE, "--until-dry", "--json", code=1))
    assert document["counts"]["made"] == 7
    assert document["last"] == {"made": 0, "refused": 1, "failed": 1, "passed": 0}


def test_an_effect_that_sweeps_in_code_is_called_until_its_counts_are_nothing(toa_clock):
    fill("tea", 1000)
    for number in range(3):
        place(f"A-{number}")
    toa_clock.set(toa_clock.now + 2 * HOUR)
    assert run(EXPIRE, "--until-dry").splitlines() == [
        "round 1: 3 made",
        "round 2: nothing to do",
        "2 rounds: 3 made",
    ]
    assert set(Order.objects.values_list("status", flat=True)) == {"cancelled"}


def test_an_effect_bounds_itself_and_does_not_tell_whom_it_would_call(toa_clock):
    with pytest.raises(CommandError, match="selects in its own code, and bounds itself"):
        run(EXPIRE, "--limit", "5")
    with pytest.raises(CommandError, match="selects in its own code: whom it would call is not known"):
        run(EXPIRE, "--dry-run")


def test_an_unknown_name_and_an_unfit_limit_are_refused(toa_clock):
    with pytest.raises(CommandError, match=r"nothing on the clock is called 'store\.orders\.expires'.*expire"):
        run("store.orders.expires")
    with pytest.raises(CommandError, match="limit: 1 to 1000"):
        run(LAPSE, "--limit", "1001")
