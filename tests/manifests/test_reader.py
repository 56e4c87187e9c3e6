"""Strict YAML: what is special, what is refused, and where."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from toa.manifests import reader
from toa.manifests.document import Document, Path, Position
from toa.manifests.problems import DUPLICATE_KEY
from toa.manifests.reader import read


def test_M2_duplicates_are_refused_and_words_of_other_dialects_are_text() -> None:
    document = read("a: no\nb: 012\nc: 12:30:00\na: yes\n", "m.yaml")
    assert document.data == {"a": "no", "b": "012", "c": "12:30:00"}
    assert [str(problem) for problem in document.problems] == [
        "m.yaml:4:1: a: the key 'a' stands twice; the first is in line 1"
    ]
    assert document.problems[0].id == DUPLICATE_KEY


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("true", True),
        ("false", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("0", 0),
        ("-0", 0),
        ("-17", -17),
        ("9223372036854775808", 2**63),
        ("0.5", 0.5),
        ("-1.25e-3", -0.00125),
        ("1e3", 1000.0),
        ("1E+2", 100.0),
    ],
)
def test_what_is_special_is_what_JSON_has(text: str, value: Any) -> None:
    data = read(f"a: {text}", "m.yaml").data
    assert data == {"a": value}
    assert type(data["a"]) is type(value)


@pytest.mark.parametrize(
    "text",
    [
        "no",
        "yes",
        "on",
        "off",
        "True",
        "TRUE",
        "Null",
        "NULL",
        "012",
        "0o17",
        "0x10",
        "0b1",
        "1_000",
        "+1",
        ".5",
        "5.",
        "12:30:00",
        "2026-03-01",
        "2026-03-01T09:00:00Z",
        "1e",
        "--1",
        "=",
        "١٢",
        "1,000",
        "12kg",
        "-",
    ],
)
def test_everything_else_is_text(text: str) -> None:
    assert read(f"[{text}, '1']" if "," not in text else f"- {text}\n- '1'", "m.yaml").data == [text, "1"]


@pytest.mark.parametrize("text", ["'true'", '"1"', "|\n  1", ">-\n  null"])
def test_quoted_and_block_scalars_are_text(text: str) -> None:
    assert isinstance(read(f"a: {text}", "m.yaml").data["a"], str)


def test_keys_are_text_whatever_they_look_like() -> None:
    assert read("no: 1\n1: 2\ntrue: 3\n~: 4\n2026-01-01: 5", "m.yaml").data == {
        "no": 1,
        "1": 2,
        "true": 3,
        "~": 4,
        "2026-01-01": 5,
    }


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (b"\xef\xbb\xbfa: 1", []),
        (b"a: 1\r\nb: 2\r\n", []),
        (b"a: \xe9", ["1:4: byte 0xe9 is not UTF-8; save the file as UTF-8"]),
        (b"a: 1\n\xc3\xbc: \xff", ["2:4: byte 0xff is not UTF-8; save the file as UTF-8"]),
        ("a: 1".encode("utf-16"), ["1:1: the file is UTF-16; save it as UTF-8"]),
        ("a: 'x\0y'", ["1:6: character U+0000 cannot stand in YAML"]),
        ("a: '\ud800'", ["1:5: character U+D800 cannot stand in YAML"]),
        ("a: &x 1", ["1:4: a: the anchor &x is not read; write the value out"]),
        ("a: *x", ["1:4: a: the alias *x is not read; write the value out"]),
        (
            "a: !!python/object:os.system x",
            ["1:4: a: the tag !!python/object:os.system is not read; quote a value to make it text"],
        ),
        ("!x {a: 1}", ["1:1: the tag !x is not read; quote a value to make it text"]),
        ("&x a: 1", ["1:1: a: the anchor &x is not read; write the value out"]),
        ("{}\n---\n{}", ["2:1: a second document begins here; a manifest is one document"]),
        ("a: 1e999", ["1:4: a: the number 1e999 is out of range"]),
        (f"a: {'9' * 401}", ["1:4: a: a number of 401 characters is too long"]),
        (
            "a: [-.INF, .NaN]",
            [
                "1:5: a[0]: -.INF is not a number that a manifest may hold",
                "1:12: a[1]: .NaN is not a number that a manifest may hold",
            ],
        ),
        ("a: b: c", ["1:5: mapping values are not allowed in this context; quote text that holds ': '"]),
        (
            "a:\n\t- b",
            [
                "2:1: found character that cannot start any token; "
                "indent with spaces, not tabs; quote text that begins with @, ` or %"
            ],
        ),
        ("*a : 1", ["1:1: a key must be text; an alias is not read; write the key"]),
    ],
)
def test_what_is_refused_is_told_with_its_place(source: bytes | str, expected: list[str]) -> None:
    assert _told(read(source, "m")) == expected


def test_nesting_is_bounded() -> None:
    deep = read("[" * (reader.MAX_DEPTH + 1) + "]" * (reader.MAX_DEPTH + 1), "m")
    assert deep.data is None
    assert _told(deep) == [f"1:{reader.MAX_DEPTH + 1}: nested deeper than {reader.MAX_DEPTH} levels"]
    assert read("[" * reader.MAX_DEPTH + "]" * reader.MAX_DEPTH, "m").problems == ()


def test_a_million_brackets_are_refused_and_not_walked_into() -> None:
    document = read("[" * (reader.MAX_BYTES - 1), "m")
    assert document.data is None
    (told,) = _told(document)
    assert "nest" in told


def test_size_is_bounded_in_bytes_and_in_values() -> None:
    large = read(b"#" * (reader.MAX_BYTES + 1), "m")
    assert _told(large) == [f"1:1: the file has {reader.MAX_BYTES + 1} bytes, more than {reader.MAX_BYTES}"]
    many = read("[" + "1," * reader.MAX_NODES + "]", "m")
    assert many.data is None
    assert f"more than {reader.MAX_NODES} values" in _told(many)[0]


def test_the_second_of_two_equal_keys_does_not_hide_the_first() -> None:
    document = read("a:\n  b: 1\na:\n  c: 2\n", "m")
    assert document.data == {"a": {"b": 1}}
    assert document.position(("a",), key=True).line == 1


@pytest.mark.parametrize(
    ("path", "key", "line", "column"),
    [
        (("a",), True, 1, 1),
        (("a",), False, 2, 3),
        (("a", 0, "b"), True, 2, 5),
        (("a", 0, "b"), False, 2, 8),
        (("a", 0, "ü", "d", 1), False, 3, 25),
        # What is not there is shown where it would have to be written.
        (("a", 0, "missing"), False, 2, 5),
        (("b", "c"), True, 1, 1),
    ],
)
def test_positions_are_those_of_keys_and_values(path: Path, key: bool, line: int, column: int) -> None:
    document = read("a:\n  - b: 1\n    ü: {c: 'x', d: [1,  2]}\n", "m")
    assert document.position(path, key=key) == Position(line=line, column=column)


@settings(max_examples=300, deadline=None)
@given(
    source=st.one_of(
        st.binary(max_size=200), st.text(max_size=200), st.text("{}[]:,-?*&!|>'\"%@`#~ \n\tab01.", max_size=60)
    )
)
@example(source="? - : {")
@example(source="--- |1\n  \t")
@example(source="%YAML 3.0\n---\na")
@example(source=b"\xfe\xff")
def test_any_bytes_are_read_or_refused_and_never_raise(source: bytes | str) -> None:
    document = read(source, "m")
    text = source if isinstance(source, str) else source.decode("utf-8", "replace")
    lines = len(re.split("[\r\n\x85\u2028\u2029]", text))
    for problem in document.problems:
        assert 1 <= problem.line <= lines + 1
        assert problem.column >= 1
    assert _is_json(document.data)


def _told(document: Document) -> list[str]:
    return [str(problem).removeprefix("m:") for problem in document.problems]


def _is_json(value: Any) -> bool:
    if isinstance(value, dict):
        return all(type(key) is str and _is_json(part) for key, part in value.items())
    if isinstance(value, list):
        return all(_is_json(part) for part in value)
    return value is None or type(value) in (str, int, bool) or (type(value) is float and math.isfinite(value))
