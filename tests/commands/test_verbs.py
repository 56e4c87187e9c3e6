"""The table of verbs behind `manage.py toa`."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from io import StringIO

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

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


def run(*arguments: str) -> str:
    out = StringIO()
    call_command("toa", *arguments, stdout=out)
    return out.getvalue()
