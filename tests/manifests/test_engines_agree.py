"""The compiled validator decides, the other explains: both must say the same of every schema and value."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings

from tests.manifests.schema_strategies import SCHEMAS, VALUES
from toa.exceptions import InvalidInput
from toa.manifests.engines import fast, prepare, thorough
from toa.manifests.schemas import compile_schema

QUICK = settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@QUICK
@given(schema=SCHEMAS, value=VALUES)
@example(schema={"type": "number", "multipleOf": 0.1}, value=0.3)
@example(schema={"type": "number", "multipleOf": 0.01}, value=1e20)
@example(schema={"type": "integer"}, value=1e20)
@example(schema={"enum": [1]}, value=True)
@example(schema={"const": [False]}, value=[0])
@example(schema={"uniqueItems": True}, value=[1, 1.0])
@example(schema={"uniqueItems": True}, value=[1, True])
@example(schema={"pattern": r"^\d+$"}, value="٣")
@example(schema={"pattern": "b$"}, value="b\n")
@example(schema={"pattern": r"\s"}, value="\u2028")
@example(schema={"maxLength": 1}, value="🙂")
@example(schema={"type": "number", "format": "decimal", "exclusiveMaximum": 0.3}, value=Decimal("0.30"))
@example(schema={"type": "number", "format": "decimal", "enum": ["0.10"]}, value=Decimal("0.1"))
def test_both_validators_say_the_same(schema: Any, value: Any) -> None:
    prepared = prepare(schema)
    explained = [error.message for error in thorough(prepared).iter_errors(value)]
    assert fast(prepared)(value) is (not explained), explained


@QUICK
@given(schema=SCHEMAS, value=VALUES)
def test_a_refusal_always_has_a_reason_and_a_normalised_value_stays(schema: Any, value: Any) -> None:
    checker = compile_schema(schema)
    try:
        checked = checker.check(value)
    except InvalidInput as refusal:
        assert refusal.problems
        assert all(message for _, message in refusal.problems)
    else:
        assert checker.is_valid(checked)
        assert checker.problems(checked) == []
        assert checker.normalise(checked) is checked


@pytest.mark.slow
@settings(max_examples=5_000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(schema=SCHEMAS, value=VALUES)
def test_both_validators_say_the_same_for_long(schema: Any, value: Any) -> None:
    prepared = prepare(schema)
    assert fast(prepared)(value) is (next(thorough(prepared).iter_errors(value), None) is None)
