"""The reference page of the checks is what the code says."""

from __future__ import annotations

import re
from pathlib import Path

from toa.checks.ids import MEANINGS

PAGE = Path(__file__).parents[2] / "docs" / "checks.md"


def test_the_page_lists_every_id_with_its_meaning():
    rows = re.findall(r"^\| `(toa\.[EW]\d{3})` \| (.+) \|$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert dict(rows) == MEANINGS
    assert len(rows) == len(MEANINGS)
