"""The development database is migrated when something that decides about it changed, and only then."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from config.development import fingerprint
from config.servers import CHECKOUT


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for name in ("store/orders/manifest.toa.yaml", "toa/models/calls.py", "tests/test_it.py", "toa/static/a.css"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("one\n")
    return tmp_path


@pytest.mark.parametrize(
    ("name", "decides"),
    [
        ("store/orders/manifest.toa.yaml", True),
        ("toa/models/calls.py", True),
        ("toa/migrations/0002_more.py", True),
        ("tests/test_it.py", False),
        ("toa/static/a.css", False),
    ],
)
def test_what_decides_about_tables_changes_the_fingerprint(checkout: Path, name: str, decides: bool) -> None:
    before = fingerprint(checkout)
    assert fingerprint(checkout) == before
    (checkout / name).parent.mkdir(exist_ok=True)
    (checkout / name).write_text("two\n")
    assert (fingerprint(checkout) != before) is decides


def test_a_moved_line_between_two_files_changes_the_fingerprint(checkout: Path) -> None:
    first, second = checkout / "toa" / "a.py", checkout / "toa" / "b.py"
    first.write_text("x\n")
    second.write_text("")
    before = fingerprint(checkout)
    first.write_text("")
    second.write_text("x\n")
    assert fingerprint(checkout) != before


def test_a_database_that_does_not_answer_is_told_in_a_sentence() -> None:
    environment = os.environ | {"DATABASE_URL": "postgresql://nobody@127.0.0.1:1/shop"}
    done = subprocess.run(
        [sys.executable, "-m", "config.development"], cwd=CHECKOUT, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert "The database does not do as it is asked: " in done.stderr
    assert "Traceback" not in done.stderr
