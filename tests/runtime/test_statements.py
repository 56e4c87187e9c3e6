"""How many messages a call sends to the database: what it writes goes in one."""

from functools import partial

import pytest
from django.db import connection

import toa
from tests.components.tallies.operations import report
from toa.testing.crashes import COMMIT, crash

pytestmark = pytest.mark.django_db(transaction=True)

TALLIES = "components.tallies"


def sent(act):
    """The first word of each statement of an action, commits included."""
    connection.ensure_connection()
    act()  # bindings and checkers are made at the first use
    with crash() as statements:
        act()
    return [sql.split()[0] for sql in statements.sent]


@pytest.fixture
def names():
    return iter(f"name {number}" for number in range(100))


@pytest.fixture
def ledger(toa_clock):
    """A ledger: nobody receives its events."""
    toa.call("components.ledgers.note", {"line": "first"}, id="1" * 32)
    return "1" * 32


def test_a_transition_is_a_lock_an_update_and_a_commit(ledger):
    assert sent(lambda: toa.call("components.ledgers.note", {"line": "x"}, id=ledger)) == ["SELECT", "UPDATE", COMMIT]


def test_what_is_written_goes_in_one_message_with_the_deliveries_however_many(toa_clock, names):
    tally = toa.call(f"{TALLIES}.create", {"name": next(names)})["id"]
    toa.call(f"{TALLIES}.add", {"by": 3}, id=tally)
    count = sent(lambda: toa.call(f"{TALLIES}.add", {"by": 1}, id=tally))
    # Two receivers in two components; the hint to beat is sent after the commit, at most one in ten milliseconds.
    assert count[:3] == ["SELECT", "UPDATE", COMMIT]
    assert count[3:] in ([], ["SELECT"])


def test_creating_is_an_insert(toa_clock, names):
    assert sent(lambda: toa.call(f"{TALLIES}.create", {"name": next(names)}))[:3] == ["INSERT", "INSERT", COMMIT]


def test_a_once_key_is_two_statements_more_and_a_repetition_two_in_all(toa_clock, ledger, names):
    tally = toa.call(f"{TALLIES}.create", {"name": "once"})["id"]
    keys = iter("abc")
    first = sent(lambda: toa.call(f"{TALLIES}.add", {"by": 0}, id=tally, once=next(keys)))
    assert first == ["INSERT", "SELECT", "UPDATE", COMMIT], "record, lock, reply"
    again = sent(lambda: toa.call(f"{TALLIES}.add", {"by": 0}, id=tally, once="a"))
    assert again == ["INSERT", "SELECT", COMMIT]


def test_history_goes_with_the_update(toa_clock):
    claim = "2" * 32
    toa.call("components.claims.set", {}, id=claim)
    assert sent(lambda: toa.call("components.claims.set", {}, id=claim)) == ["SELECT", "UPDATE", COMMIT]


def test_what_is_armed_goes_with_the_update(toa_clock, ledger):
    tally = toa.call(f"{TALLIES}.create", {"name": "arming"})["id"]
    words = sent(lambda: toa.call(f"{TALLIES}.arm", {"interval": "1h"}, id=tally))
    assert words[:3] == ["SELECT", "UPDATE", COMMIT]


def test_a_named_delay_goes_with_the_update_too_as_long_as_nothing_stands_under_its_name(toa_clock, names):
    tally = toa.call(f"{TALLIES}.create", {"name": "named"})["id"]
    arm = partial(toa.call, f"{TALLIES}.arm", id=tally)
    toa.call(f"{TALLIES}.arm", {"interval": "1h", "key": "taken"}, id=tally)
    assert sent(lambda: arm({"interval": "1h", "key": next(names)}))[:3] == ["SELECT", "UPDATE", COMMIT]
    # Those it meets are looked for then: lock, delete, and the line of history with the new one.
    words = sent(lambda: arm({"interval": "1h", "key": "taken"}))
    assert words[:6] == ["SELECT", "UPDATE", "SELECT", "DELETE", "INSERT", COMMIT]


def test_outside_a_transaction_a_delay_is_one_statement_and_a_named_one_its_lock_with_it(toa_clock, names):
    arm = partial(toa.delay, f"{TALLIES}.report", {"input": {}}, interval="1h", overdue=None)
    assert sent(arm) == ["INSERT"]
    assert sent(lambda: arm(key=next(names))) == ["SELECT", COMMIT]


def test_reading_is_one_statement(toa_clock, ledger):
    assert sent(lambda: toa.call("components.ledgers.observe", id=ledger)) == ["SELECT"]
    assert sent(lambda: toa.call("components.ledgers.enumerate", limit=10)) == ["SELECT"]


def test_an_assignment_is_a_lock_an_update_and_a_commit(toa_clock):
    tally = toa.call(f"{TALLIES}.create", {"name": "assigned"})["id"]
    counts = iter(range(1, 10))
    words = sent(lambda: toa.call(f"{TALLIES}.assign", {"count": next(counts)}, id=tally))
    assert words[:3] == ["SELECT", "UPDATE", COMMIT]


def test_an_effect_sends_nothing_by_itself(toa_clock):
    assert sent(lambda: toa.call(f"{TALLIES}.report", {})) == []
    report.CALLS.clear()
