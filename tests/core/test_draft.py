"""Drafts: what counts as a change, and copies of them."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from toa.core.draft import Draft, changes, state
from toa.core.record import Record


def draft(**values: Any) -> Draft:
    return Draft({"id": "a", **values}, frozenset(values))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (1, True),
        (1, 1.0),
        (None, {}),
        ({"flag": 1}, {"flag": True}),
        ({"flag": {"deep": [0, 1]}}, {"flag": {"deep": [False, 1]}}),
        ([1, 2], [1.0, 2]),
        ({"a": 1}, {"a": 1, "b": None}),
        ([], [None]),
    ],
)
def test_what_is_another_value_in_json_is_a_change_at_any_depth(before: Any, after: Any) -> None:
    entry = draft(data=before)
    entry.data = after
    assert changes(entry) == {"data": after}


@pytest.mark.parametrize("value", [{"a": [1, {"b": 2}]}, [{"a": 1}], 1.5, "text", None])
def test_what_is_the_same_in_json_is_no_change(value: Any) -> None:
    entry = draft(data=value)
    entry.data = Record(value) if isinstance(value, dict) else copy.deepcopy(value)
    assert changes(entry) == {}


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda entry: pickle.loads(pickle.dumps(entry))])
def test_a_copy_of_a_draft_is_a_draft_of_its_own(copied: Any) -> None:
    entry = draft(data={"a": 1}, note="x")
    entry.note = "y"

    other = copied(entry)
    other.data["a"] = 2

    assert (changes(other), changes(entry)) == ({"data": {"a": 2}, "note": "y"}, {"note": "y"})
    assert state(entry)["data"] == {"a": 1}
    with pytest.raises(AttributeError, match="set by toa"):
        other.id = "b"
