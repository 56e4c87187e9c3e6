"""Calling operations: what is written, what is refused, what is left behind."""

from decimal import Decimal

import pytest

import toa
from tests.components.ledgers.models import Ledger
from tests.components.tallies.models import Tally
from toa.exceptions import (
    Conflict,
    InvalidInput,
    InvalidQuery,
    NotAllowedHere,
    NotFound,
    OnceMismatch,
    OperationFault,
    PreconditionFailed,
    Refused,
    UnknownEndpoint,
)
from toa.models import Delay, Delivery, Once

pytestmark = pytest.mark.django_db

TALLIES = "components.tallies"


@pytest.fixture
def tally(toa_clock):
    """The id of a fresh tally."""
    return toa.call(f"{TALLIES}.create", {"name": "first"})["id"]


def test_a_transition_without_a_query_creates(toa_clock):
    reply = toa.call(f"{TALLIES}.create", {"name": "new", "amount": "12.50"})
    row = Tally.objects.get()
    assert (row.id.hex, row.name, row.count, row.amount, row.version) == (reply["id"], "new", 0, Decimal("12.50"), 1)
    assert row.created_at == row.updated_at
    assert int(row.created_at.timestamp() * 1000) == toa_clock.now


def test_a_transition_writes_the_difference_and_raises_the_version(tally, toa_clock):
    toa_clock.set(toa_clock.now + 5)
    assert toa.call(f"{TALLIES}.add", {"by": 3}, id=tally) == {"count": 3}
    row = Tally.objects.get()
    assert (row.count, row.version) == (3, 2)
    assert int(row.updated_at.timestamp() * 1000) == toa_clock.now
    assert row.created_at < row.updated_at


def test_a_default_of_the_input_is_applied(tally):
    assert toa.call(f"{TALLIES}.add", {}, id=tally).count == 1


def test_M6_an_error_leaves_nothing(tally):
    before = Tally.objects.values().get()
    deliveries = Delivery.objects.count()
    reply = toa.call(f"{TALLIES}.arm", {"interval": "1h", "outcome": "error"}, id=tally)
    assert reply == toa.Error("NEVER")
    full = toa.call(f"{TALLIES}.add", {"by": 1001}, id=tally, once="k")
    assert (full.code, full.details) == ("FULL", {"count": 0})
    assert Tally.objects.values().get() == before
    assert (Delay.objects.count(), Delivery.objects.count(), Once.objects.count()) == (0, deliveries, 0)
    assert toa.call(f"{TALLIES}.add", {"by": 2}, id=tally, once="k") == {"count": 2}, "an Error is not remembered"


def test_an_error_is_raised_where_it_was_asked_for(tally):
    with pytest.raises(Refused) as caught:
        toa.call(f"{TALLIES}.add", {"by": 1001}, id=tally, check=True)
    assert (caught.value.code, caught.value.details) == ("FULL", {"count": 0})


def test_M12_raising_after_arming_stores_neither(tally):
    with pytest.raises(RuntimeError, match="after arming"):
        toa.call(f"{TALLIES}.arm", {"interval": "1h", "outcome": "raise"}, id=tally)
    assert (Tally.objects.get().count, Tally.objects.get().version) == (0, 1)
    assert Delay.objects.count() == 0


def test_the_same_once_key_gives_the_same_reply(tally):
    first = toa.call(f"{TALLIES}.add", {"by": 3}, id=tally, once="key")
    assert toa.call(f"{TALLIES}.add", {"by": 3}, id=tally, once="key") == first
    assert Tally.objects.get().count == 3
    with pytest.raises(OnceMismatch):
        toa.call(f"{TALLIES}.add", {"by": 4}, id=tally, once="key")
    assert toa.call(f"{TALLIES}.add", {"by": 3}, id=tally, once="key", caller="someone else") == {"count": 6}


def test_a_once_key_is_forgotten_after_its_retention(tally, toa_clock):
    toa.call(f"{TALLIES}.add", {"by": 3}, id=tally, once="key")
    toa_clock.set(toa_clock.now + 3_600_000)
    assert toa.call(f"{TALLIES}.add", {"by": 4}, id=tally, once="key") == {"count": 7}


def test_a_once_key_is_refused_where_none_is_taken(tally):
    with pytest.raises(InvalidInput, match="takes no once key"):
        toa.call(f"{TALLIES}.count_once", id=tally, once="key")


@pytest.mark.parametrize(
    ("endpoint", "input", "query", "error", "message"),
    [
        ("components.tallies.ad", None, None, UnknownEndpoint, "add"),
        ("components.talies.add", None, None, UnknownEndpoint, "components.tallies"),
        ("components.tallies.add", {"by": "3"}, {"id": "TALLY"}, InvalidInput, "by"),
        ("components.tallies.add", {"buy": 3}, {"id": "TALLY"}, InvalidInput, "buy"),
        ("components.tallies.add", {}, None, InvalidQuery, "needs a query"),
        ("components.tallies.add", {}, {"criteria": "count==0"}, InvalidQuery, "needs `id`"),
        ("components.tallies.add", {}, {"id": "TALLY", "limt": 3}, InvalidQuery, "limit"),
        ("components.tallies.add", {}, {"id": "nonsense"}, InvalidQuery, "id"),
        ("components.tallies.add", {}, {"id": "0" * 32}, NotFound, "has no"),
        ("components.tallies.add", {}, {"id": "TALLY", "version": 3}, PreconditionFailed, "version 1"),
        ("components.tallies.add", {}, {"id": "TALLY", "criteria": "count>5"}, NotFound, "criteria"),
        ("components.tallies.create", {"name": "x"}, {"id": "TALLY"}, InvalidQuery, "no query"),
        ("components.tallies.create", {"name": "first"}, None, Conflict, "'name'"),
        ("components.tallies.create", {"name": "x", "amount": 1.5}, None, InvalidInput, "amount"),
        ("components.tallies.create", {"name": "x", "amount": "1.505"}, None, InvalidInput, "amount"),
        ("components.tallies.create", {"name": "nul\0"}, None, InvalidInput, "NUL"),
        ("components.tallies.enumerate", None, {}, InvalidQuery, "limit"),
        ("components.tallies.enumerate", None, {"limit": 1001}, InvalidQuery, "limit"),
        ("components.tallies.count_once", {}, {"id": "TALLY"}, InvalidInput, "null"),
    ],
)
def test_what_is_refused_leaves_nothing(tally, endpoint, input, query, error, message):
    before = list(Tally.objects.values())
    query = {k: tally if v == "TALLY" else v for k, v in query.items()} if query is not None else None
    with pytest.raises(error, match=message):
        toa.call(endpoint, input, query)
    assert list(Tally.objects.values()) == before


@pytest.mark.parametrize("what", ["local", "remote", "call", "lock"])
def test_M18_a_transition_calls_nothing(tally, what):
    with pytest.raises(NotAllowedHere, match="calls nothing"):
        toa.call(f"{TALLIES}.meddle", {"what": what}, id=tally)


@pytest.mark.parametrize(
    ("what", "message"), [("system", "set by toa"), ("unknown", "no property 'colour'")], ids=["system", "unknown"]
)
def test_a_draft_has_its_properties_and_no_others(tally, what, message):
    with pytest.raises(AttributeError, match=message):
        toa.call(f"{TALLIES}.meddle", {"what": what}, id=tally)


def test_a_row_that_would_not_fit_its_entity_is_not_written(tally):
    with pytest.raises(OperationFault, match="count"):
        toa.call(f"{TALLIES}.meddle", {"what": "invalid"}, id=tally)
    assert Tally.objects.get().count == 0


def test_observe_and_enumerate(tally, toa_clock):
    toa.call(f"{TALLIES}.create", {"name": "second", "count": 7})
    seen = toa.call(f"{TALLIES}.observe", id=tally)
    assert (seen.id, seen.name, seen.count, seen.amount, seen.VERSION) == (tally, "first", 0, Decimal("0.00"), 1)
    assert toa_clock.now == seen.CREATED
    assert toa.call(f"{TALLIES}.observe", id="0" * 32) is None
    found = toa.call(f"{TALLIES}.enumerate", criteria="count>=7;name=='second'", limit=10)
    assert [one.name for one in found] == ["second"]
    names = toa.call(f"{TALLIES}.enumerate", limit=10, sort="-name", projection=["name"])
    assert [set(one) for one in names] == [{"id", "name"}, {"id", "name"}]
    assert [one["name"] for one in names] == ["second", "first"]


def test_assign_applies_its_input(tally):
    toa.call(f"{TALLIES}.assign", {"count": 9, "amount": "3.10"}, id=tally)
    row = Tally.objects.get()
    assert (row.count, row.amount, row.version) == (9, Decimal("3.10"), 2)
    with pytest.raises(PreconditionFailed):
        toa.call(f"{TALLIES}.assign", {"count": 1}, id=tally, version=1)
    with pytest.raises(InvalidInput):
        toa.call(f"{TALLIES}.assign", {"closed": True}, id=tally)


def test_terminate_leaves_a_tombstone(tally):
    toa.call(f"{TALLIES}.terminate", id=tally)
    assert Tally.objects.get().deleted_at is not None
    assert toa.call(f"{TALLIES}.observe", id=tally) is None
    with pytest.raises(NotFound):
        toa.call(f"{TALLIES}.add", {}, id=tally)
    assert toa.call(f"{TALLIES}.enumerate", limit=10) == []
    toa.call(f"{TALLIES}.create", {"name": "first"})


def test_M9_the_blank_of_an_associated_object_is_read_and_not_made(toa_clock):
    identity = "1" * 32
    seen = toa.call("components.ledgers.observe", id=identity)
    assert (seen.lines, seen.VERSION, seen.UPDATED, seen.id) == ([], 0, 0, identity)
    assert Ledger.objects.count() == 0
    toa.call("components.ledgers.note", {"line": "one"}, id=identity)
    row = Ledger.objects.get()
    assert (row.lines, row.version) == (["one"], 1)


def test_configuration_comes_from_settings_over_defaults(tally):
    toa.call(f"{TALLIES}.count_once", id=tally)
    assert Tally.objects.get().count == 2
    from toa.runtime.bindings import component

    assert component(TALLIES).configuration == {"step": 2, "note": "none"}


def test_a_transition_that_changes_nothing_keeps_its_version(tally):
    toa.call(f"{TALLIES}.add", {"by": 0}, id=tally)
    assert Tally.objects.get().version == 1
