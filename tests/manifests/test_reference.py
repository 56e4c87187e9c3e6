"""The reference page names every key, format and type, and what it shows is read without a problem."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import jsonschema_rs

from toa.core.specs import OperationType
from toa.manifests.editor import manifest_schema
from toa.manifests.formats import FORMATS
from toa.manifests.keys import MANIFEST, PULSE, SCHEDULE, Table
from toa.manifests.keywords import OURS
from toa.manifests.problems import MEANINGS
from toa.manifests.reader import read

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "manifest.md").read_text(encoding="utf-8")


def test_every_key_is_in_the_reference() -> None:
    named = set(re.findall(r"`([^`\n]+)`", PAGE))
    words = {word for text in named for word in re.findall(r"[A-Za-z_-]+", text)}
    keys = {key for table in (MANIFEST, PULSE, SCHEDULE) for key in _names(table)}
    assert (keys | set(FORMATS) | OURS | {kind.value for kind in OperationType}) - words == set()


def test_every_example_is_read_and_fits_the_schema() -> None:
    examples = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    fits = jsonschema_rs.Draft7Validator(manifest_schema()).is_valid
    assert len(examples) >= 4
    for example in examples:
        document = read(example, "manifest.md")
        assert document.problems == ()
        assert fits(document.data), example


def test_every_id_is_in_the_list_of_checks() -> None:
    page = (DOCS / "checks.md").read_text(encoding="utf-8")
    listed = dict(re.findall(r"\| `(toa\.[EW]0\d\d)` \| (.*) \|", page))
    assert listed == MEANINGS


def _names(table: Table) -> Iterator[str]:
    for name, key in table.items():
        yield name
        for below in (key.holds, key.each.holds if key.each else None):
            yield from _names(below or {})
