"""`toa pulses` and `toa schedules`."""

import json
from io import StringIO

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from tests.cadence.calendar import DAY, HOUR, NOTE
from tests.components.almanacs.operations import note
from tests.components.beacons.operations import ping
from toa.models import Pulse

pytestmark = pytest.mark.django_db

PING = "components.beacons.ping"


def run(*arguments: str) -> str:
    out = StringIO()
    call_command("toa", *arguments, stdout=out)
    return out.getvalue()


def refused(*arguments: str) -> str:
    """What is said by a command that ends with exit code 1."""
    out = StringIO()
    with pytest.raises(SystemExit) as ended:
        call_command("toa", *arguments, stdout=out)
    assert ended.value.code == 1
    return out.getvalue()


def test_pulses_are_listed_with_their_grid_their_next_boundary_and_state(toa_clock):
    lines = run("pulses", "list").splitlines()
    assert lines[0].split() == ["PULSE", "EVERY", "NEXT", "STATE"]
    (line,) = (line for line in lines if line.startswith(PING))
    assert line.endswith(" waiting")
    assert "24 times in 1d" in line
    assert "2026-01-05 13:00:00 UTC, in 1h" in line
    (replica,) = (line for line in lines if line.startswith("components.beacons.glow"))
    assert replica.endswith("in each process")


def test_pulses_as_json(toa_clock):
    document = json.loads(run("pulses", "list", "--json"))
    (one,) = (one for one in document["pulses"] if one["endpoint"] == PING)
    assert (one["cycle_ms"], one["intervals"], one["state"]) == (DAY, 24, "waiting")
    assert one["next"] == document["now"] + HOUR


def test_a_pulse_is_paused_resumed_and_fired_by_its_name(toa_clock):
    assert run("pulses", "pause", PING, "--by", "anna") == f"{PING}: paused\n"
    assert refused("pulses", "pause", PING) == f"{PING}: already paused\n"
    assert "paused by anna" in run("pulses", "list")
    assert run("pulses", "resume", PING) == f"{PING}: resumed\n"
    ping.CALLS.clear()
    assert json.loads(run("pulses", "fire", PING, "--json"))["answer"] == "fired"
    toa_clock.run_until_idle()
    assert len(ping.CALLS) == 1


def test_an_unknown_name_is_refused_with_the_nearest(toa_clock):
    with pytest.raises(CommandError, match=r"no pulse is called 'components\.beacons\.pong'.*ping"):
        run("pulses", "pause", "components.beacons.pong")


def test_schedules_are_listed_in_words(calendar):
    calendar.declare(schedule="0 9 * * mon", zone="Europe/Berlin")
    (line,) = (line for line in run("schedules", "list").splitlines() if line.startswith(NOTE))
    assert "0 9 * * mon (At 09:00, only on Monday), by the settings" in line
    assert "Europe/Berlin" in line
    assert "2026-01-12 08:00:00 UTC" in line
    assert line.endswith("waiting")


def test_what_comes_is_shown_in_local_time_and_utc_with_what_the_clocks_do_to_it(calendar, toa_clock):
    toa_clock.set(toa_clock.now + 81 * DAY)
    calendar.declare(schedule="30 2 * * *", zone="Europe/Berlin")
    lines = run("schedules", "next", NOTE, "-n", "4").splitlines()
    assert lines[0] == "30 2 * * * in Europe/Berlin"
    assert lines[1].split("  ")[0] == "LOCAL (Europe/Berlin)"
    assert [line[:52].rstrip() for line in lines[2:]] == [
        "Sat 2026-03-28 02:30:00 +01:00  2026-03-28 01:30:00",
        "Sun 2026-03-29 03:00:00 +02:00  2026-03-29 01:00:00",
        "Mon 2026-03-30 02:30:00 +02:00  2026-03-30 00:30:00",
        "Tue 2026-03-31 02:30:00 +02:00  2026-03-31 00:30:00",
    ]
    assert "29 March 2026: 02:30 does not exist" in lines[3]
    document = json.loads(run("schedules", "next", NOTE, "-n", "2", "--json"))
    assert [bool(one["note"]) for one in document["next"]] == [False, True]


def test_what_comes_of_a_paused_schedule_with_jitter_is_shown_too(calendar):
    calendar.declare(schedule="0 9 * * *", jitter=600)
    run("schedules", "pause", NOTE)
    lines = run("schedules", "next", NOTE).splitlines()
    assert lines[0] == "0 9 * * * in UTC, paused"
    assert len(lines) == 7
    assert all(line.endswith("s later (jitter)") for line in lines[2:])


def test_a_schedule_is_paused_resumed_and_fired_by_its_name(calendar, toa_clock):
    calendar.declare({"name": "a", "schedule": "0 9 * * *"}, {"name": "b", "schedule": "0 9 * * *"})
    with pytest.raises(CommandError, match=f"{NOTE} has several: {NOTE}#a, {NOTE}#b"):
        run("schedules", "fire", NOTE)
    assert run("schedules", "fire", f"{NOTE}#a") == f"{NOTE} a: fired\n"
    assert refused("schedules", "fire", f"{NOTE}#a") == f"{NOTE} a: being made\n"
    toa_clock.run_until_idle()
    assert len(note.CALLS) == 1
    assert run("schedules", "pause", f"{NOTE}#b", "--by", "anna") == f"{NOTE} b: paused\n"
    assert refused("schedules", "resume", f"{NOTE}#a") == f"{NOTE} a: not paused\n"


def test_what_is_declared_no_more_is_listed_where_asked_for(calendar, settings):
    calendar.declare(schedule="0 9 * * *")
    calendar.declare()
    assert NOTE not in run("schedules", "list")
    (line,) = (line for line in run("schedules", "list", "--all").splitlines() if line.startswith(NOTE))
    assert line.endswith("retired")
    assert Pulse.objects.filter(retired_at=None).exists()
