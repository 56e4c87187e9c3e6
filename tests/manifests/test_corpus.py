"""Thirty sound manifests hold, sixty broken ones are told all that is wrong with them, at the right places."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.manifests.cases import HOME, Case, cases
from toa.manifests.checking import check

SOUND = cases("sound")
BROKEN = cases("broken")


@pytest.mark.parametrize("case", SOUND, ids=lambda case: case.name)
def test_a_sound_manifest_has_no_problem(case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert _printed(case, tmp_path, monkeypatch) == []


@pytest.mark.parametrize("case", BROKEN, ids=lambda case: case.name)
def test_a_broken_manifest_is_told_all_its_problems(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _printed(case, tmp_path, monkeypatch) == list(case.problems)


def test_the_corpus_is_as_large_as_it_says() -> None:
    assert (len(SOUND), len(BROKEN)) == (30, 60)


def _printed(case: Case, folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.chdir(case.unpack(folder))
    checked = check([Path(".")])
    return [f"{problem} [{problem.id}]".removeprefix(f"{HOME}/") for problem in checked.problems]
