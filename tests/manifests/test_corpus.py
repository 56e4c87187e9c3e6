"""Thirty sound manifests hold, sixty broken ones are told all that is wrong with them, at the right places."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.manifests.cases import HOME, Case, cases
from tests.manifests.features import all_features, features_of
from toa.manifests.checking import check
from toa.manifests.problems import MEANINGS

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


def test_the_sound_manifests_use_every_key_type_and_choice(tmp_path: Path) -> None:
    used: set[str] = set()
    for case in SOUND:
        checked = check([case.unpack(tmp_path / case.name)])
        assert checked.problems == ()
        for loaded in checked.manifests:
            used |= features_of(loaded)
        used |= {"several manifests"} if len(checked.manifests) > 1 else set()
    assert all_features() - used == set()


def test_the_broken_manifests_show_every_kind_of_problem() -> None:
    told = {problem.rpartition("[")[2].rstrip("]") for case in BROKEN for problem in case.problems}
    assert told == set(MEANINGS)


def test_every_place_of_a_problem_is_inside_its_file() -> None:
    for case in BROKEN:
        for problem in case.problems:
            path, line, column = problem.split(":")[:3]
            text = case.files.get(path) or case.files[f"{HOME}/{path}"]
            lines = text.split("\n")
            assert 1 <= int(line) <= len(lines)
            assert 1 <= int(column) <= len(lines[int(line) - 1]) + 1


def _printed(case: Case, folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.chdir(case.unpack(folder))
    checked = check([Path(".")])
    return [f"{problem} [{problem.id}]".removeprefix(f"{HOME}/") for problem in checked.problems]
