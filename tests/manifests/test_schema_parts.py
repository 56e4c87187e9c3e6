"""The parts that a checker is made of: pointers, references, patterns, and the sentences of a refusal."""

from __future__ import annotations

import enum
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from toa.exceptions import InvalidInput
from toa.manifests.compile import load_path
from toa.manifests.content import MAX_DEPTH, MAX_ITEMS
from toa.manifests.patterns import MAX_PATTERN, UnfitPattern, check_pattern, matcher
from toa.manifests.place import Place, Report
from toa.manifests.pointers import parts, pointer, resolve
from toa.manifests.reader import read
from toa.manifests.references import endless
from toa.manifests.schemas import compile_schema, to_json
from toa.manifests.sources import read_sources

DECIMAL = {"type": "number", "format": "decimal"}


class Level(enum.IntEnum):
    HIGH = 3


class Weight(float):
    pass


@pytest.mark.parametrize(
    ("schema", "value", "sentence"),
    [
        ({"required": ["a"]}, {}, "'a' is required"),
        ({"type": "string"}, 1, "must be text, not 1"),
        ({"type": ["string", "null"]}, 1, "must be text or null, not 1"),
        ({"type": ["string", "null", "boolean"]}, [], "must be text, null or true or false, not a list"),
        ({"enum": ["a", 1, None]}, "b", "'b' is none of 'a', 1, null"),
        ({"const": True}, False, "must be true, not false"),
        ({"minimum": 2}, 1, "1 is less than 2"),
        ({"exclusiveMinimum": 1}, 1, "1 is not more than 1"),
        ({"maximum": 2}, 3, "3 is more than 2"),
        ({"exclusiveMaximum": 3}, 3, "3 is not less than 3"),
        ({"minLength": 2}, "a", "has 1 characters, fewer than 2"),
        ({"maxLength": 2}, "abc", "has 3 characters, more than 2"),
        ({"minItems": 2}, [1], "has 1 items, fewer than 2"),
        ({"maxItems": 0}, [1], "has 1 items, more than 0"),
        ({"uniqueItems": True}, [1, 1], "holds an item twice"),
        ({"uniqueItems": True}, [{"a": [1, None]}, {"a": [1, False]}, {"a": [1.0, None]}], "holds an item twice"),
        ({"pattern": "^a"}, "b", "'b' does not match the pattern ^a"),
        ({"multipleOf": 0.1}, 0.25, "0.25 is not a multiple of 0.1"),
        ({"type": "string", "format": "date"}, "soon", "'soon' is no date, such as 2026-03-01"),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, 1, "1 is not allowed here"),
        ({"oneOf": [{"minimum": 1}, {"minimum": 2}]}, 3, "3 is not allowed here"),
        ({"not": {"type": "object"}}, {}, "an object is not allowed here"),
        (False, 1, "1 is not allowed here"),
        (
            {"properties": {"status": {}}, "additionalProperties": False},
            {"statu": 1},
            "'statu' is not known here; did you mean 'status'?",
        ),
        ({"minProperties": 1}, {}, "{} should be non-empty"),
        ({**DECIMAL, "const": "1.00"}, Decimal("2.00"), "must be 1.00, not 2.00"),
    ],
)
def test_each_keyword_refuses_in_a_plain_sentence(schema: Any, value: Any, sentence: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        compile_schema(schema).check(value)
    ((_, said),) = caught.value.problems
    assert said == sentence


def test_pointers_lead_into_mappings_and_lists() -> None:
    root = {"a/b": [{"~": 1}]}
    assert pointer(("a/b", 0, "~")) == "/a~1b/0/~0"
    assert resolve(root, "#/a~1b/0/~0") == 1
    assert resolve(root, "#") is root
    assert parts("#/a~1b/0") == ("a/b", "0")
    for nowhere in ("#/x", "#/a~1b/1", "#/a~1b/x", "#/a~1b/0/~0/deeper"):
        with pytest.raises(LookupError):
            resolve(root, nowhere)
    with pytest.raises(ValueError, match="is no local reference"):
        resolve(root, "other.json#/a")


@pytest.mark.parametrize(
    ("schema", "loop"),
    [
        ({"$ref": "#"}, ("$ref",)),
        ({"allOf": [{"$ref": "#"}]}, ("$ref",)),
        ({"definitions": {"a": {"not": {"$ref": "#/definitions/a"}}}}, ("definitions", "a", "$ref")),
        ({"properties": {"next": {"$ref": "#"}}}, None),
        ({"items": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}}, None),
        ({"definitions": {"a": {"$ref": "#/definitions/b"}, "b": {}}, "$ref": "#/definitions/a"}, None),
    ],
)
def test_references_that_never_go_into_the_value_are_found(schema: Any, loop: tuple[str, ...] | None) -> None:
    assert endless(schema) == loop


def test_references_are_escaped_as_their_author_likes() -> None:
    for reference in ("#/definitions/a b~1%", "#/definitions/a%20b~1%25"):
        checker = compile_schema({"definitions": {"a b/%": {"type": "integer"}}, "$ref": reference})
        assert (checker.is_valid(1), checker.is_valid("x"), len(checker.problems("x"))) == (True, False, 1)
        assert checker.check(1.0) == 1


def test_patterns_are_those_of_ECMA_that_python_reads_as_well() -> None:
    assert [matcher(r"^\d$")(text) for text in ("1", "٣", "1\n")] == [True, False, False]
    for pattern in ("(", r"\Z", "(?P<n>a)", r"\p{L}", "a" * (MAX_PATTERN + 1)):
        with pytest.raises(UnfitPattern):
            check_pattern(pattern)
    for pattern in ("", "^a|b$", r"(?=a)\w", r"[^\s]{1,3}?"):
        check_pattern(pattern)


def test_a_pattern_cannot_be_made_to_run_for_ever() -> None:
    assert compile_schema({"pattern": "^(a+)+$"}).is_valid("a" * 50_000 + "b") is False


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        ({"properties": {"a": {**DECIMAL, "default": 1.5}}}, "a default does not fit"),
        ({"type": "nothing"}, "is not valid under any of the"),
    ],
)
def test_a_schema_that_does_not_hold_is_no_checker(schema: Any, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        compile_schema(schema)
    with pytest.raises(TypeError, match="a set cannot stand in a JSON Schema"):
        compile_schema({"enum": {1}})


def test_normalise_alone_refuses_what_cannot_be_read() -> None:
    checker = compile_schema({"properties": {"total": DECIMAL}})
    assert checker.normalise({"total": "1", "more": "x"}) == {"total": Decimal("1.00"), "more": "x"}
    with pytest.raises(InvalidInput) as caught:
        checker.normalise({"total": 1})
    assert caught.value.problems[0][0] == "/total"


def test_subclasses_of_numbers_become_plain_ones() -> None:
    checked = compile_schema({}).check([Level.HIGH, Weight(1.5)])
    assert [type(value) for value in checked] == [int, float]


def test_depth_and_size_are_bounded_in_objects_too() -> None:
    deep: Any = {}
    for _ in range(MAX_DEPTH + 1):
        deep = {"a": deep}
    for value, message in [(deep, "nested deeper"), ({str(n): n for n in range(MAX_ITEMS + 1)}, "items are more than")]:
        with pytest.raises(InvalidInput, match=message):
            compile_schema({"type": "object"}).check(value)


def test_what_is_not_finite_has_no_plain_digits() -> None:
    with pytest.raises(ValueError, match="NaN cannot be written in plain digits"):
        to_json({"a": [Decimal("NaN")]})


def test_a_place_that_is_not_there_can_still_be_reported() -> None:
    report = Report(read("a: [1]", "m"))
    Place(report, (), report.document.data).at("a", 5, "b").error("is missing", id="toa.E006")
    assert [str(problem) for problem in report.problems] == ["m:1:1: a[5].b: is missing"]


def test_a_manifest_that_cannot_be_read_is_a_problem(tmp_path: Path) -> None:
    loaded = load_path(tmp_path / "manifest.toa.yaml", "store.things")
    assert loaded.spec is None
    assert [problem.message for problem in loaded.problems] == ["the file cannot be read: No such file or directory"]


@pytest.mark.parametrize("content", [b"\0", b"def effect(\xff): ...", b"(" * 10_000], ids=["nul", "bytes", "deep"])
def test_a_python_file_that_cannot_be_read_is_a_problem(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "operations").mkdir()
    (tmp_path / "operations" / "odd.py").write_bytes(content)
    sources = read_sources(tmp_path, "store/things")
    (problem,) = sources.problems
    assert problem.path == "store/things/operations/odd.py"
    assert sources.operations["odd"].type is None
