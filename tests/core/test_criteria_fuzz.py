"""Any text at all: a tree, or a refusal with its place. Nothing else."""

from __future__ import annotations

from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.core.order_spec import PROPERTIES
from toa.core.criteria import matches, parse_criteria, to_text
from toa.exceptions import InvalidQuery

BLANK: dict[str, Any] = dict.fromkeys(PROPERTIES)

PIECES = [
    *PROPERTIES,
    *("details.count", "details.free.x", "details.'a b'", "details.box", "nothing", "."),
    *("==", "!=", "<", "<=", ">", ">=", "=in=", "=out=", "=", "=x="),
    *(
        "(",
        ")",
        ",",
        ";",
        " ",
        "'",
        '"',
        "\\",
        "''",
        "null",
        "$now",
        "true",
        "-",
        "\x00",
        "\ud800",
        "é",
        "😀",
    ),
    *("1", "0.10", "1e400", "9" * 30, "anna", "'it\\'s'", "2026-02-29", "2026-01-01T00:00:00Z", "packed"),
    *("0190b1f0c6d87d0e8b1a5d0c3a0f9e11", "' OR 1=1 --", "%s", "{}", "\n"),
]

near_criteria = st.lists(st.sampled_from(PIECES), max_size=24).map("".join)


@settings(max_examples=600, deadline=None)
@given(st.one_of(near_criteria, st.text(max_size=60)), st.booleans())
@example("(" * 5000, False)
@example("quantity=in=(" + "1," * 2000, False)
@example("details" + ".a" * 2000 + "==1", False)
@example("'" * 4096, False)
@example("weight==" + "1" * 4000, False)
@example("details.ratio==0." + "0" * 300 + "1" * 3000, False)
def test_M13_any_text_is_read_or_refused_with_its_place(text: str, allow_now: bool) -> None:
    refusal = None
    try:
        node = parse_criteria(text, PROPERTIES, allow_now=allow_now)
    except InvalidQuery as refused:
        refusal = refused
    if refusal is not None:
        assert refusal.position is not None
        assert 0 <= refusal.position <= len(text)
        assert refusal.message
        return
    written = to_text(node)
    assert parse_criteria(written, PROPERTIES, allow_now=allow_now) == node
    assert matches(node, BLANK, 0) in (True, False)
