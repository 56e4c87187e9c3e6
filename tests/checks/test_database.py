"""The checks of the database, against servers and settings that really are as they should not be."""

from __future__ import annotations

import pytest
from django.db import connections
from django.db.utils import ConnectionHandler
from django.test import override_settings
from psycopg import IsolationLevel

from toa.checks import database
from toa.checks.database import check_declared, check_server


@pytest.fixture
def connect(monkeypatch):
    """Let the checks find a database of these settings in place of the project's; those of the test are the base."""
    opened = []

    def find(**changes):
        settings = {**connections["default"].settings_dict, **changes}
        handler = ConnectionHandler({"default": settings})
        monkeypatch.setattr(database, "connections", handler)
        opened.append(handler)

    yield find
    for handler in opened:
        handler.close_all()


def told(messages):
    return [(message.id, message.msg, message.hint) for message in messages]


def test_the_database_of_the_tests_is_as_it_should_be(db):
    assert check_declared(None) == check_server(None, ["default"]) == []


def test_another_database_than_PostgreSQL_is_an_error(connect):
    connect(ENGINE="django.db.backends.sqlite3", NAME=":memory:")

    (found,) = check_declared(None)
    assert found.id == "toa.E101"
    assert found.msg == "the database 'default' is SQLite: toa keeps its state in PostgreSQL"
    assert check_server(None, ["default"]) == []


@pytest.mark.parametrize("level", [IsolationLevel.REPEATABLE_READ, IsolationLevel.SERIALIZABLE])
def test_another_isolation_in_the_settings_is_an_error(connect, level):
    connect(OPTIONS={"isolation_level": level})

    (found,) = check_declared(None)
    assert found.id == "toa.E102"
    assert found.msg.startswith(f"the database 'default' is set to {level.name.replace('_', ' ')}: ")


def test_READ_COMMITTED_may_be_written_out(connect):
    connect(OPTIONS={"isolation_level": IsolationLevel.READ_COMMITTED})
    assert check_declared(None) == []


def test_another_isolation_of_the_server_is_an_error(connect, db):
    connect(OPTIONS={"options": "-c default_transaction_isolation=serializable"})

    assert check_declared(None) == []
    (found,) = check_server(None, ["default"])
    assert found.id == "toa.E102"
    assert found.msg.startswith("the server gives the database 'default' transactions that are SERIALIZABLE: ")


def test_a_server_that_is_too_old_is_an_error(db, monkeypatch):
    monkeypatch.setattr(database, "OLDEST", 99)

    (found,) = check_server(None, ["default"])
    assert (found.id, found.hint) == ("toa.E101", "PostgreSQL 99 or newer")


def test_a_server_that_does_not_answer_is_a_warning_in_one_line(connect, db):
    connect(HOST="127.0.0.1", PORT="1")

    (found,) = check_server(None, ["default"])
    assert found.id == "toa.W104"
    assert found.msg.startswith("the database 'default' could not be asked: ")
    assert "\n" not in found.msg


def test_the_server_is_asked_only_where_django_allows_it(connect):
    connect(HOST="127.0.0.1", PORT="1")
    assert check_server(None) == check_server(None, ["other"]) == []


def test_time_zones_switched_off_are_an_error():
    with override_settings(USE_TZ=False):
        assert told(check_declared(None)) == [
            ("toa.E103", "USE_TZ is off: moments would have no zone", "USE_TZ = True")
        ]


def test_settings_that_do_not_hold_are_left_to_their_own_check():
    with override_settings(TOA={"DATABASE": "other"}, USE_TZ=False):
        assert check_declared(None) == check_server(None, ["other"]) == []
