"""`python -m toa`: checking manifests and printing their schema, with neither a project nor Django."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.manifests.cases import cases
from toa.manifests.command import main
from toa.manifests.editor import SCHEMA_PATH

CASES = {case.name[:2]: case for case in cases("broken")}
SHOP = next(case for case in cases("sound") if case.name.startswith("02"))


def test_errors_are_printed_with_their_ids_and_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(CASES["44"].unpack(tmp_path))
    assert main(["check", "."]) == 1
    *problems, summary = capsys.readouterr().out.splitlines()
    assert problems == list(CASES["44"].problems)
    assert summary == "1 manifest: 2 errors and 1 warning"


def test_warnings_alone_are_no_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(CASES["49"].unpack(tmp_path))
    assert main(["check", "store/things/manifest.toa.yaml"]) == 0
    assert capsys.readouterr().out.endswith("1 manifest: 4 warnings\n")


def test_a_sound_manifest_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(SHOP.unpack(tmp_path))]) == 0
    assert capsys.readouterr().out == "1 manifest: nothing wrong\n"


def test_problems_as_JSON(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(CASES["23"].unpack(tmp_path))
    assert main(["check", ".", "--json"]) == 1
    first = json.loads(capsys.readouterr().out)["problems"][0]
    assert first == {
        "path": "store/things/manifest.toa.yaml",
        "line": 2,
        "column": 22,
        "where": "entity.required[1]",
        "message": "no property is called 'totl'",
        "id": "toa.E008",
        "hint": "did you mean 'total'?",
        "level": "error",
    }


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["check", "nowhere"], "nowhere does not exist"),
        (["check", "."], "there is no manifest.toa.yaml below ."),
    ],
)
def test_nothing_to_check_is_a_mistake_in_the_call(
    arguments: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    assert capsys.readouterr().err == f"{said}\n"


@pytest.mark.parametrize("arguments", [[], ["check"], ["chek", "."]])
def test_a_command_that_is_none_is_a_mistake_in_the_call(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert "usage: python -m toa" in capsys.readouterr().err


def test_folders_that_hold_no_components_are_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    SHOP.unpack(tmp_path)
    for folder in (".venv/lib/other", "node_modules/other", "build/lib/other", "venv/site-packages/other"):
        CASES["12"].unpack(tmp_path / folder)
    monkeypatch.chdir(tmp_path)
    assert main(["check", ".", "store", "store/things"]) == 0
    assert capsys.readouterr().out == "1 manifest: nothing wrong\n"


def test_the_schema_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema"]) == 0
    assert capsys.readouterr().out == SCHEMA_PATH.read_text(encoding="utf-8")


def test_as_a_process_it_loads_no_django_and_imports_no_component(tmp_path: Path) -> None:
    SHOP.unpack(tmp_path)
    (tmp_path / "store" / "__init__.py").write_text("raise RuntimeError\n", encoding="utf-8")
    code = (
        "import sys; from toa.manifests.command import main; status = main(['check', '.']); "
        "print(sorted({'django', 'celery', 'store'} & set(sys.modules))); raise SystemExit(status)"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={"PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "1 manifest: nothing wrong\n[]\n"
    module = subprocess.run(
        [sys.executable, "-m", "toa", "check", "nowhere"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (module.returncode, module.stderr) == (2, "nowhere does not exist\n")
