"""Pulses and schedules as the settings of an environment change what the manifests declare."""

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.test import override_settings

from toa.cadence.declared import in_force, unfit
from toa.core.specs import PulseScope

BEACONS, ALMANACS = "components.beacons", "components.almanacs"
PING, LAPSE, GLOW = f"{BEACONS}.ping", f"{BEACONS}.lapse", f"{BEACONS}.glow"
NOTE, STAMP = f"{ALMANACS}.note", f"{ALMANACS}.stamp"


def declared(endpoint, cadence):
    """What is in force for an endpoint: kind, name, what it says, and whether the settings said it."""
    with override_settings(TOA={"CADENCE": cadence}):
        found = [
            *(("pulse", one.spec.name, one.spec.cycle_ms, one.overridden) for one in pulses(endpoint)),
            *(("schedule", one.spec.name, one.spec.expression, one.overridden) for one in schedules(endpoint)),
        ]
    return found


def pulses(endpoint):
    return [one for one in in_force().pulses if one.endpoint == endpoint]


def schedules(endpoint):
    return [one for one in in_force().schedules if one.endpoint == endpoint]


def test_without_settings_it_is_as_the_manifests_say():
    assert declared(PING, {}) == [("pulse", "", 86_400_000, False)]
    assert declared(NOTE, {}) == [("schedule", "", "0 9 31 12 *", False)]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"cycle": 60, "intervals": 1}, [("pulse", "", 60_000, True)]),
        ("2d", [("pulse", "", 172_800_000, True)]),
        ({"intervals": 12}, [("pulse", "", 86_400_000, True)]),
        (None, []),
        (
            [{"name": "a", "cycle": 60}, {"name": "b", "cycle": 90}],
            [("pulse", "a", 60_000, True), ("pulse", "b", 90_000, True)],
        ),
    ],
)
def test_a_pulse_is_changed_taken_away_or_replaced_by_several(value, expected):
    assert declared(PING, {PING: value}) == expected


def test_a_number_leaves_the_other_keys_as_they_are():
    with override_settings(TOA={"CADENCE": {PING: 3600, LAPSE: 60, GLOW: 5}}):
        (ping,), (lapse,), (glow,) = pulses(PING), pulses(LAPSE), pulses(GLOW)
    assert (ping.spec.cycle_ms, ping.spec.intervals) == (3_600_000, 24)
    assert (lapse.spec.cycle_ms, lapse.spec.query["limit"], lapse.spec.input) == (60_000, 3, {"at": 1})
    assert (glow.spec.scope, glow.spec.intervals) == (PulseScope.REPLICA, 2)


def test_a_schedule_keeps_what_the_settings_do_not_say():
    with override_settings(TOA={"CADENCE": {NOTE: "0 7 * * *", STAMP: {"overlap": "buffer"}}}):
        (note,), (stamp,) = schedules(NOTE), schedules(STAMP)
    assert (note.spec.expression, note.spec.zone) == ("0 7 * * *", "Asia/Tokyo")
    assert (stamp.spec.expression, stamp.spec.overlap, stamp.spec.query["limit"]) == ("0 0 31 12 *", "buffer", 3)


def test_every_key_of_a_schedule_goes_through_unchanged():
    keys = {
        "schedule": "0 7 * * *",
        "zone": "Europe/Berlin",
        "overdue": 60,
        "catch_up": {"each": {"max": 7, "window": "2d"}},
        "overlap": "allow",
        "gap": "shift",
        "fold": "both",
        "jitter": 5,
    }
    with override_settings(TOA={"CADENCE": {NOTE: [{"name": "a", **keys}], f"{STAMP}": {"jitter": 9}}}):
        (whole,) = (one.spec for one in schedules(NOTE))
    assert (whole.overdue_ms, whole.catch_up, whole.each_max, whole.each_window_ms) == (60_000, "each", 7, 172_800_000)
    assert (whole.overlap, whole.gap, whole.fold, whole.jitter_ms) == ("allow", "shift", "both", 5000)


def test_a_pulse_becomes_a_schedule_and_a_schedule_a_pulse():
    assert declared(LAPSE, {LAPSE: "0 3 * * *"}) == [("schedule", "", "0 3 * * *", True)]
    assert declared(STAMP, {STAMP: {"cycle": 60}}) == [("pulse", "", 60_000, True)]


def test_an_operation_without_a_cadence_may_be_given_one():
    terminate = f"{ALMANACS}.terminate"
    assert declared(terminate, {}) == []
    sweep = {"cycle": 60, "query": {"criteria": "open==true", "limit": 5}}
    assert declared(terminate, {terminate: sweep}) == [("pulse", "", 60_000, True)]


@pytest.mark.parametrize(
    ("cadence", "message"),
    [
        ({f"{BEACONS}.pong": 5}, f"no pulse or schedule is called '{BEACONS}.pong'; did you mean '{PING}'?"),
        ({f"{PING}#nightly": 5}, f"no pulse or schedule is called '{PING}#nightly'"),
        ({NOTE: {"zone": "Mars/Olympus"}}, f"TOA['CADENCE']['{NOTE}']: zone: there is no time zone 'Mars/Olympus'"),
        ({NOTE: {"zones": "UTC"}}, f"TOA['CADENCE']['{NOTE}']: zones: no key is called 'zones' here"),
        ({NOTE: True}, f"TOA['CADENCE']['{NOTE}']: must be seconds, a cron expression, or a mapping"),
        ({f"{ALMANACS}.create": 60}, f"TOA['CADENCE']['{ALMANACS}.create']: 'create' is a transition: without `query`"),
    ],
)
def test_what_does_not_hold_is_told_with_its_key(cadence, message):
    with override_settings(TOA={"CADENCE": cadence}):
        assert str(unfit()[0]).startswith(message)
        with pytest.raises(ImproperlyConfigured):
            in_force()


def test_everything_that_does_not_hold_is_told_at_once():
    with override_settings(TOA={"CADENCE": {PING: 0.5, NOTE: "61 * * * *", "nowhere.at.all": 1}}):
        assert len(unfit()) == 3
