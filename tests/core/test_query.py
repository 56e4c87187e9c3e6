"""Reading queries: each key, its bounds, and what excludes what."""

from __future__ import annotations

import uuid
from dataclasses import replace
from typing import Any

import pytest

from tests.core.order_spec import ORDER, prop
from toa.core.criteria import parse_criteria
from toa.core.query import MAX_IDS, Query, parse_query, read_id
from toa.core.specs import EntitySpec, PropertyType
from toa.exceptions import InvalidQuery

HEX = "0190b1f0c6d87d0e8b1a5d0c3a0f9e11"
NUMBERED = replace(ORDER, id=prop("id", PropertyType.INTEGER, nullable=False))
NAMED = replace(ORDER, id=prop("id", PropertyType.STRING, nullable=False, max_length=20))


def read(entity: EntitySpec = ORDER, **query: Any) -> Query:
    return parse_query(query, entity)


def refusal(query: Any, **options: Any) -> tuple[str, str]:
    with pytest.raises(InvalidQuery) as caught:
        parse_query(query, ORDER, **options)
    return caught.value.message, caught.value.hint


def order(query: Query) -> str:
    return ",".join(("-" if key.descending else "") + key.name for key in query.order)


def test_no_query_asks_for_everything_in_id_order() -> None:
    assert parse_query(None, ORDER) == parse_query({}, ORDER) == Query(order=read().order)
    assert order(read()) == "id"


def test_null_is_the_same_as_no_key() -> None:
    assert read(id=None, ids=[HEX], limit=None, sort=None, after=None, deleted=None) == read(ids=[HEX])


@pytest.mark.parametrize(
    ("query", "message", "hint"),
    [
        ({"criterias": "x"}, "no key 'criterias' in a query", "did you mean 'criteria'?"),
        ({"Limit": 1}, "no key 'Limit' in a query", "did you mean 'limit'?"),
        ({1: 1}, "no key 1 in a query", f"there is {', '.join(Query.__slots__[:-1])}"),
        ([], "a query is an object, not list", ""),
        ("id", "a query is an object, not str", ""),
        ({"id": HEX, "ids": []}, "id and ids exclude each other", ""),
        ({"offset": 0, "after": "x"}, "offset and after exclude each other", ""),
    ],
)
def test_keys_that_do_not_fit_are_refused(query: Any, message: str, hint: str) -> None:
    assert refusal(query) == (message, hint)


@pytest.mark.parametrize("spelled", [HEX, HEX.upper(), str(uuid.UUID(HEX)), uuid.UUID(HEX), f"urn:uuid:{HEX}"])
def test_an_id_has_one_form_whatever_its_spelling(spelled: Any) -> None:
    assert read(id=spelled).id == HEX
    assert read(ids=[spelled, HEX]).ids == (HEX,)


def test_an_id_has_the_type_that_the_entity_declares() -> None:
    assert read(NUMBERED, id=7).id == read(NUMBERED, id="7").id == 7
    assert read(NAMED, id="anna").id == "anna"
    for entity, wrong in (
        (NUMBERED, "7kg"),
        (NUMBERED, True),
        (NUMBERED, 7.0),
        (NAMED, 7),
        (ORDER, 7),
        (ORDER, "x"),
    ):
        with pytest.raises(InvalidQuery):
            read_id(wrong, entity.id)


def test_ids_are_a_bounded_list() -> None:
    assert read(ids=[]).ids == ()
    assert read(NUMBERED, ids={3}).ids == (3,)
    assert len(read(NUMBERED, ids=list(range(MAX_IDS))).ids or ()) == MAX_IDS
    assert refusal({"ids": [HEX] * (MAX_IDS + 1)})[0] == "1001 ids; 1000 at most"
    for wrong in (HEX, {"a": 1}, 7, b"x", [None], [[HEX]]):
        refusal({"ids": wrong})


@pytest.mark.parametrize(
    ("key", "least", "most"), [("limit", 1, 1000), ("offset", 0, 100_000), ("version", 0, 2**63 - 1)]
)
def test_whole_numbers_have_bounds(key: str, least: int, most: int) -> None:
    assert getattr(read(**{key: least}), key) == least
    assert getattr(read(**{key: most}), key) == most
    for outside in (least - 1, most + 1):
        assert refusal({key: outside})[0] == f"{key}: {least} to {most}"
    for wrong in (True, "10", 10.0, [10]):
        assert refusal({key: wrong})[0] == f"{key}: an integer, not {type(wrong).__name__}"


def test_M14_a_set_without_limit_or_beyond_1000_is_refused() -> None:
    assert refusal({"criteria": "gift==true"}, limit_required=True) == (
        "a set needs a limit",
        "limit: 1 to 1000",
    )
    assert refusal(None, limit_required=True)[0] == "a set needs a limit"
    assert refusal({"limit": 1001}, limit_required=True)[0] == "limit: 1 to 1000"
    assert parse_query({"limit": 1000}, ORDER, limit_required=True).limit == 1000
    assert parse_query({"ids": [HEX]}, ORDER, limit_required=True).limit is None


def test_criteria_are_read_for_the_entity() -> None:
    node = parse_criteria("gift==true", ORDER.selectable())
    assert read(criteria="gift==true").criteria == node
    assert read(criteria=node).criteria is node
    assert refusal({"criteria": "gift<$now"}, allow_now=True)[0] == "'gift' is of type boolean, which has no order"
    assert parse_query({"criteria": "pay_by<$now"}, ORDER, allow_now=True).criteria is not None
    for wrong in (1, ["gift==true"], {"gift": True}):
        assert refusal({"criteria": wrong})[0].startswith("criteria are text, not")
    with pytest.raises(InvalidQuery) as caught:
        read(criteria="gift==true;x==1")
    assert caught.value.position == 11


@pytest.mark.parametrize(
    ("sort", "expected"),
    [
        ("total", "total,id"),
        ("-total", "-total,-id"),
        (["-total", "reference"], "-total,reference,id"),
        ("reference, -total", "reference,-total,-id"),
        ("total,-id", "total,-id"),
        ("-id", "-id"),
        ("gift,owner,seen,day,token,CREATED", "gift,owner,seen,day,token,CREATED,id"),
        ([], "id"),
    ],
)
def test_the_id_is_always_the_last_sort_key_in_the_direction_before_it(sort: Any, expected: str) -> None:
    assert order(read(sort=sort)) == expected


@pytest.mark.parametrize(
    ("sort", "message"),
    [
        ("totl", "sort: no property 'totl'"),
        ("--total", "sort: no property '-total'"),
        ("details", "sort: 'details' is of type object, which has no order"),
        ("details.count", "sort: no property 'details.count'"),
        ("marks", "sort: 'marks' is of type array, which has no order"),
        ("total,-total", "sort: 'total' stands twice"),
        ("id,total", "sort: nothing is left to decide behind 'id', so 'total' has no place there"),
        ("", "sort: no property ''"),
        ("total,", "sort: no property ''"),
        (["total", 1], "sort: a list of property names, or one text with commas, not list"),
        ({"total": 1}, "sort: a list of property names, or one text with commas, not dict"),
        (
            "total,gift,quantity,weight,day,seen,mail,customer,status",
            "sort: 9 keys; 8 at most",
        ),
    ],
)
def test_a_sort_that_does_not_hold_is_refused(sort: Any, message: str) -> None:
    assert refusal({"sort": sort})[0] == message


def test_a_projection_names_properties() -> None:
    assert read(projection="total, id,total").projection == ("total", "id")
    assert read(projection=["UPDATED"]).projection == ("UPDATED",)
    assert refusal({"projection": []})[0] == "projection: empty"
    assert refusal({"projection": "totl"}) == ("projection: no property 'totl'", "did you mean 'total'?")
    assert refusal({"projection": 1})[0].endswith("not int")


def test_deleted_is_a_boolean() -> None:
    assert read(deleted=True).deleted is True and read().deleted is False
    for wrong in (1, "true", []):
        assert refusal({"deleted": wrong})[0].startswith("deleted: true or false, not")
