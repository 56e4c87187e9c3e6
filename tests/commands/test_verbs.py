"""The table of verbs behind `manage.py toa`."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from io import StringIO

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from tests.commands.saying import toa
from toa.management import verbs


@pytest.mark.parametrize("name", verbs.names())
def test_a_verb_has_a_sentence_of_help_and_arguments_that_parse(name):
    verb = verbs.verb(name)
    parser = ArgumentParser()
    verb.arguments(parser)

    assert verb.HELP.endswith(".")
    assert parser.format_help()


def test_the_verbs_that_stand_are_found():
    assert {"run", "sync", "tick"} <= set(verbs.names())


def test_an_unknown_verb_is_refused_with_the_known_ones():
    with pytest.raises(CommandError, match=r"'sink'.*'sync'"):
        call_command("toa", "sink")


def test_facts_are_a_line_for_a_person_and_an_object_for_a_program(db):
    facts = json.loads(run("sync", "--json"))
    assert {"components", "pulses", "retired"} <= set(facts)
    assert run("sync") == f"{', '.join(f'{name} {number}' for name, number in facts.items())}\n"


def test_a_pass_over_nothing_settles_nothing(db, toa_clock):
    assert json.loads(run("tick", "--json"))["settled"] == 0


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("delays", "list", "--after", "x"), 2, "no mark"),
        (("failures", "list", "--after", "x"), 2, "no mark"),
        (("events", "list", "--after", "x"), 2, "not a cursor"),
        (("deadlines", "list", "--after", "x"), 2, "not a cursor"),
        (("explain", "components.reminders", "x"), 2, "does not fit 'id'"),
        (("sweep", "components.beacons.ping", "--limit", "5"), 2, "bounds itself"),
        (("deadlines", "list", "--component", "components.gone"), 1, "no component"),
        (("explain", "components.gone", "x"), 1, "no component"),
        (("runs", "check", "--endpoint", "components.voyages.gone"), 1, "no operation"),
        (("sweep", "components.gone.by"), 1, "nothing on the clock"),
        (("events", "show", "0" * 32), 1, "0" * 32),
        (("events", "replay", "0" * 32), 1, "0" * 32),
    ],
)
def test_a_wrong_use_ends_with_2_and_what_is_not_there_with_1(toa_clock, arguments, code, words):
    said = toa(*arguments)
    assert said.code == code, said.text
    assert words in said.text


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "--threads", "0"),
        ("schedules", "next", "components.almanacs.note", "-n", "0"),
        *((verb, "list", "--limit", "0") for verb in ("deadlines", "delays", "events", "failures", "runs")),
        ("deadlines", "list", "--within", "soon"),
        ("sweep", "components.beacons.ping", "--limit", "-1"),
        ("pulses", "pause", "components.beacons.ping", "--by", "broken \udcff"),
        ("delays", "list", "--endpoint", "\udcff"),
        ("explain", "components.reminders", "\udcff"),
    ],
)
def test_an_argument_that_cannot_be_read_is_refused_before_anything_is_done(arguments):
    said = toa(*arguments)
    assert said.code
    assert any(words in said.text for words in ("no whole number from 1", "no duration", "not UTF-8"))


def run(*arguments: str) -> str:
    out = StringIO()
    call_command("toa", *arguments, stdout=out)
    return out.getvalue()
