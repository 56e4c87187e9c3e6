"""Criteria and queries against PostgreSQL: its answers are those of plain Python over the same rows."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.core.exceptions import EmptyResultSet
from django.db import connection
from django.db.migrations.writer import MigrationWriter
from django.db.models import Index, JSONField, Sum, Value
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.order_spec import ORDER, PROPERTIES, prop
from tests.core.test_criteria_fuzz import near_criteria
from tests.runtime.criteria_plans import (
    COMPARED,
    MEMBERS,
    NOT_NULL,
    NOW,
    POOLS,
    SYMBOLS,
    TEXTS,
    UUIDS,
    Plan,
    as_q,
    as_text,
    holds,
    negatable,
    operands_of,
    plans,
    rows,
    symbols_of,
)
from tests.runtime.order_model import Order, draft_values, order_table
from toa.core.clock import EPOCH, to_datetime, to_moment
from toa.core.criteria import matches, parse_criteria
from toa.core.query import parse_query
from toa.core.specs import EntitySpec, PropertyType
from toa.exceptions import InvalidQuery
from toa.manifests.schemas import compile_schema
from toa.models.lookups import apply, check_q, to_q
from toa.runtime.table import Table

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module", autouse=True)
def table(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    with django_db_blocker.unblock(), order_table():
        yield


def store(*values: dict[str, Any]) -> list[Order]:
    """Exactly these rows, with ids that rise."""
    Order.objects.all().delete()
    plain = {"created_at": EPOCH, "updated_at": EPOCH, "version": 1, "reference": ""}
    return Order.objects.bulk_create(Order(**{**plain, "id": uuid.UUID(int=n), **v}) for n, v in enumerate(values))


def found(text: str) -> list[Order]:
    return list(Order.objects.filter(to_q(parse_criteria(text, PROPERTIES, allow_now=True), ORDER, NOW)).order_by("id"))


def explain(queryset: Any) -> str:
    with connection.cursor() as cursor:
        cursor.execute("SET enable_seqscan = off")
        try:
            return str(queryset.explain())
        finally:
            cursor.execute("RESET enable_seqscan")


@settings(max_examples=120, deadline=None)
@given(rows, st.lists(plans, min_size=1, max_size=6))
def test_M13_criteria_answer_as_the_same_filter_written_in_python(
    values: list[dict[str, Any]], asked: list[Any]
) -> None:
    stored = store(*values)
    drafts = {row.pk: draft_values(row) for row in Order.objects.all()}
    for plan in asked:
        node = parse_criteria(as_text(plan), PROPERTIES)
        expected = {row.pk for row in stored if holds(plan, row)}
        assert set(Order.objects.filter(to_q(node, ORDER)).values_list("pk", flat=True)) == expected
        assert {key for key, draft in drafts.items() if matches(node, draft, to_moment(NOW))} == expected


@settings(max_examples=120, deadline=None)
@given(rows, st.lists(negatable, min_size=1, max_size=6))
def test_M13_a_Q_answers_as_the_same_filter_written_in_python(values: list[dict[str, Any]], asked: list[Any]) -> None:
    stored = store(*values)
    for plan in asked:
        node = check_q(as_q(plan), ORDER)
        assert node is not None
        expected = {row.pk for row in stored if holds(plan, row)}
        assert set(Order.objects.filter(to_q(node, ORDER)).values_list("pk", flat=True)) == expected


@pytest.mark.parametrize(
    "text", ["2026-03-01T09:00:00Z", "2026-03-01t10:00:00+01:00", "2026-03-01t09:00:00.000000001z"]
)
def test_a_date_time_is_written_in_every_spelling_that_its_format_takes(text: str) -> None:
    assert compile_schema({"type": "string", "format": "date-time"}).check(text) == text
    seen = replace(ORDER, properties={name: ORDER.properties[name] for name in ("reference", "seen")})
    state = {"reference": "A", "CREATED": 0, "UPDATED": 0, "VERSION": 1, "seen": text}

    assert Table(seen, Order).insert({**state, "id": uuid.UUID(int=1).hex})
    assert Table(seen, Order).insert_many([{**state, "id": uuid.UUID(int=2).hex}])

    assert set(Order.objects.values_list("seen", flat=True)) == {datetime(2026, 3, 1, 9, tzinfo=UTC)}


@pytest.mark.parametrize("column", POOLS)
def test_every_operator_with_every_value_of_a_column(column: str) -> None:
    rows = [{column: value} for value in POOLS[column]]
    stored = store(*(rows if column in NOT_NULL else [*rows, {}]))
    drafts = {row.pk: draft_values(row) for row in Order.objects.all()}
    plans = [
        Plan(column, (), symbol, values) for symbol in symbols_of(column) for values in operands_of(column, symbol)
    ]
    assert len(plans) > 4
    for plan in plans:
        node = parse_criteria(as_text(plan), PROPERTIES)
        expected = {row.pk for row in stored if holds(plan, row)}
        assert set(Order.objects.filter(to_q(node, ORDER)).values_list("pk", flat=True)) == expected, plan
        assert {key for key, draft in drafts.items() if matches(node, draft, 0)} == expected, plan


@pytest.mark.parametrize("symbol", [*SYMBOLS, "=in=", "=out="])
def test_every_operator_with_every_type_of_a_member(symbol: str) -> None:
    stored = store(*({"details": {"a": member}} for member in [*MEMBERS, {}, [], [1], {"a": 1}]), {"details": {}}, {})
    drafts = {row.pk: draft_values(row) for row in Order.objects.all()}
    for value in COMPARED:
        if isinstance(value, bool) and symbol in ("<", "<=", ">", ">="):
            continue
        plan = Plan("details", ("a",), symbol, (value,))
        node = parse_criteria(as_text(plan), PROPERTIES)
        expected = {row.pk for row in stored if holds(plan, row)}
        assert set(Order.objects.filter(to_q(node, ORDER)).values_list("pk", flat=True)) == expected, plan
        assert {key for key, draft in drafts.items() if matches(node, draft, 0)} == expected, plan


def test_the_null_of_JSON_is_the_null_of_SQL() -> None:
    store({"details": Value(None, JSONField())}, {"details": None}, {"details": {"a": None}}, {"details": {}})
    assert [row.pk.int for row in found("details==null")] == [0, 1]
    assert [row.pk.int for row in found("details!=null")] == [2, 3]
    assert [row.pk.int for row in found("details.a==null")] == [0, 1, 2, 3]
    assert found("details.a!=null") == []


KNOWN_SQL = re.compile(
    r'"criteria_order"\."\w+"'
    r'| COLLATE "C"|%s(::(text|numeric|boolean))?|::(numeric|boolean)'
    r'|SELECT|AS "id"|FROM "criteria_order"|WHERE|AND|OR|NOT IN|NOT|IN|IS|NULL'
    r"|CASE WHEN|THEN|END|COALESCE|TRUE|FALSE"
    r"|jsonb_typeof|'(string|number|boolean|null|\{\})'|'\^-\?\[0-9\]\{1,255\}\(\\\.\[0-9\]\{1,255\}\)\?\$'"
    r"|->|#>>|<>|<=|>=|[(),<>=~ ]"
)


@settings(max_examples=300, deadline=None)
@given(st.one_of(near_criteria, plans.map(as_text)))
def test_M13_no_text_decides_the_SQL(text: str) -> None:
    try:
        node = parse_criteria(text, PROPERTIES, allow_now=True)
        queryset = Order.objects.filter(to_q(node, ORDER, NOW))
        sql, _ = queryset.values("id").query.sql_with_params()
    except (InvalidQuery, EmptyResultSet):  # refused, or an empty list: nothing is asked
        return
    assert KNOWN_SQL.sub("", sql) == ""


def test_only_the_order_of_texts_names_a_collation() -> None:
    def sql(text: str) -> str:
        return str(Order.objects.filter(to_q(parse_criteria(text, PROPERTIES), ORDER)).query)

    for text in ("customer<a", "mail>=a", "details.free>'a'"):
        assert sql(text).count('COLLATE "C"') == 1
    for text in ("customer==a", "customer=out=(a,b)", "quantity<1", "details.free=='a'", "details.free<1"):
        assert "COLLATE" not in sql(text)


@pytest.mark.parametrize("value", TEXTS)
def test_M13_quotes_and_SQL_inside_a_value_match_exactly_that_value(value: str) -> None:
    store(*({"customer": text, "details": {text: text}} for text in TEXTS))
    for text in (
        as_text(Plan("customer", (), "==", (value,))),
        as_text(Plan("details", (value,), "==", (value,))),
    ):
        assert [row.customer for row in found(text)] == [value]


def test_M19_decimals_stay_exact_through_sums_and_criteria() -> None:
    store(*({"total": Decimal("0.10"), "details": {"price": "0.10"}} for _ in range(100)))
    assert len(found("total==0.10")) == len(found("details.price==0.1")) == 100
    total = Order.objects.aggregate(total=Sum("total"))["total"]
    store({"total": total, "details": {"price": str(total)}})
    assert len(found("total==10.00;total==10;total>=10.0;total<=10;details.price==10.00;details.price=in=(10)")) == 1


def test_declared_members_compare_by_their_declaration() -> None:
    store(
        {"details": {"price": "9.99", "code": UUIDS[2].hex, "since": 1}},
        {"details": {"price": 9.99, "code": str(UUIDS[2]), "since": "1"}},
        {"details": {"price": "9.99\n", "since": True}},
        {"details": {"price": "1e2", "since": 2}},
    )
    for text, expected in (
        ("details.price<10", [0]),
        ("details.price!=9.99", [1, 2, 3]),
        (f"details.code=={UUIDS[2]}", [0]),
        ("details.since<$now", [0]),
        ("details.since<=$now", [0, 3]),
    ):
        assert [row.pk.int for row in found(text)] == expected
        node = parse_criteria(text, PROPERTIES, allow_now=True)
        assert [
            r.pk.int for r in Order.objects.order_by("id") if matches(node, draft_values(r), to_moment(NOW))
        ] == expected


def test_now_is_the_moment_of_asking() -> None:
    store({"pay_by": to_datetime(1), "seen": to_datetime(2)}, {"pay_by": to_datetime(2), "seen": to_datetime(3)})
    assert [row.pk.int for row in found("pay_by<$now")] == [0]
    assert [row.pk.int for row in found("seen<=$now")] == [0]
    with pytest.raises(ValueError, match=r"\$now"):
        to_q(parse_criteria("pay_by<$now", PROPERTIES, allow_now=True), ORDER)


def test_the_key_of_a_ref_is_read_as_its_model_has_it() -> None:
    store({"owner_id": 7}, {"owner_id": 8}, {})
    assert [row.pk.int for row in found("owner==7")] == [0]
    assert [row.pk.int for row in found("owner=out=(7,9)")] == [1, 2]
    for wrong in ("anna", "07", "7.0", "' '"):
        with pytest.raises(InvalidQuery, match=r"no key of auth\.Group"):
            found(f"owner=={wrong}")


def test_a_ref_is_found_by_its_key_without_a_join() -> None:
    entity = EntitySpec(
        id=prop("id", PropertyType.INTEGER, nullable=False),
        properties={
            "kind": prop(
                "kind",
                PropertyType.REF,
                field="content_type",
                attname="content_type_id",
                ref="contenttypes.ContentType",
            )
        },
        system={},
    )
    query = parse_query({"criteria": "kind=out=(1,2)", "sort": "kind", "limit": 3}, entity)
    rows = apply(query, Permission.objects.all(), entity)
    assert "JOIN" not in str(rows.query)
    kinds = list(rows.values_list("content_type_id", flat=True))
    assert kinds == sorted(kinds) and not {1, 2} & set(kinds)


def test_tombstones_are_skipped_unless_asked_for() -> None:
    store({}, {"deleted_at": EPOCH}, {})

    def ids(**query: Any) -> list[int]:
        return [row.pk.int for row in apply(parse_query(query, ORDER), Order.objects.all(), ORDER)]

    every = [uuid.UUID(int=n) for n in range(4)]
    assert ids() == [0, 2]
    assert ids(deleted=True) == [0, 1, 2]
    assert ids(id=every[1]) == [] and ids(id=every[1], deleted=True) == [1]
    assert ids(ids=every) == [0, 2] and ids(ids=[]) == []
    assert ids(ids=every, deleted=True, criteria="DELETED!=null") == [1]


def test_limit_and_offset_cut_the_ordered_rows() -> None:
    store(*({"quantity": n % 3} for n in range(9)))

    def ids(**query: Any) -> list[int]:
        return [row.pk.int for row in apply(parse_query(query, ORDER), Order.objects.all(), ORDER)]

    assert ids(sort="-quantity") == [8, 5, 2, 7, 4, 1, 6, 3, 0]
    assert ids(sort="-quantity,id", limit=4) == [2, 5, 8, 1]
    assert ids(sort="-quantity", limit=2, offset=3) == [7, 4]
    assert ids(offset=7) == [7, 8]


def test_criteria_serve_as_the_condition_of_a_partial_index() -> None:
    text = "status==pending;customer!=null;customer<'n';quantity=in=(1,2);details.free==1;pay_by>=0;details.x!=null"
    condition = to_q(parse_criteria(text, PROPERTIES), ORDER)
    index = Index(fields=["pay_by"], condition=condition, name="criteria_partial")
    written, imports = MigrationWriter.serialize(index)
    # What `makemigrations` writes reads as an equal index, so that it finds no change the next time.
    read: dict[str, Any] = {}
    exec("\n".join([*imports, "from django.db import models", f"index = {written}"]), read)
    assert read["index"].deconstruct() == index.deconstruct()
    store({"status": "pending", "customer": "m", "quantity": 2, "details": {"free": 1, "x": 0}, "pay_by": EPOCH})
    with connection.schema_editor() as editor:
        editor.add_index(Order, index)
    try:
        rows = Order.objects.filter(condition).order_by("pay_by")
        assert "criteria_partial" in explain(rows) and len(rows) == 1
    finally:
        with connection.schema_editor() as editor:
            editor.remove_index(Order, index)
