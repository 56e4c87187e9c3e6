"""`manage.py toa check` and `toa schema`."""

from __future__ import annotations

import json
from io import StringIO

import pytest
from django.core.management import call_command
from django.core.management.base import SystemCheckError
from django.test import override_settings

from toa.manifests.editor import SCHEMA_PATH


def run(*arguments: str) -> tuple[int, str]:
    """Exit code and output of a verb."""
    out = StringIO()
    try:
        call_command("toa", *arguments, stdout=out)
    except SystemExit as ended:
        return int(ended.code or 0), out.getvalue()
    return 0, out.getvalue()


def test_a_project_in_order_says_so(db):
    assert run("check") == (0, "nothing wrong\n")
    assert json.loads(run("check", "--json")[1]) == {"problems": []}


def test_errors_and_warnings_are_told_in_lines_and_counted(db, monkeypatch):
    monkeypatch.setenv("TOA_STORE_ORDERS_WINDW", "5s")
    with override_settings(TOA={"CADENCE": {"store.orders.expires": 1}}):
        code, said = run("check")

    assert code == 1
    assert said.splitlines() == [
        "settings.TOA['CADENCE']: no pulse or schedule is called 'store.orders.expires';"
        " did you mean 'store.orders.expire'? [toa.E106]",
        "TOA_STORE_ORDERS_WINDW: no property is set by this variable;"
        " did you mean 'TOA_STORE_ORDERS_WINDOW'? [toa.W103]",
        "1 error and 1 warning",
    ]


def test_a_warning_alone_is_no_failure_and_a_silenced_one_is_not_told(db, monkeypatch):
    monkeypatch.setenv("TOA_STORE_ORDERS_WINDW", "5s")
    code, said = run("check", "--json")
    (problem,) = json.loads(said)["problems"]
    assert (code, problem["id"], problem["path"], problem["line"], problem["level"]) == (
        0,
        "toa.W103",
        "TOA_STORE_ORDERS_WINDW",
        None,
        "warning",
    )
    with override_settings(SILENCED_SYSTEM_CHECKS=["toa.W103"]):
        assert run("check") == (0, "nothing wrong\n")


def test_settings_that_do_not_hold_are_told_and_not_stumbled_over(db):
    with override_settings(TOA={"DATABSE": "default"}):
        code, said = run("check")

    assert (code, said.splitlines()[0]) == (
        1,
        "settings.TOA: no key is called 'DATABSE'; did you mean 'DATABASE'? [toa.E104]",
    )


def test_with_a_path_manifests_are_checked_that_nobody_installed(tmp_path, monkeypatch, capsys):
    folder = tmp_path / "garage" / "cars"
    folder.mkdir(parents=True)
    (folder / "manifest.toa.yaml").write_text("cadance: {}\n")
    monkeypatch.chdir(tmp_path)

    code, said = run("check", "garage")
    assert code == 1
    assert said.splitlines() == [
        "garage/cars/manifest.toa.yaml:1:1: cadance: no key is called 'cadance' here;"
        " did you mean 'cadence'? [toa.E004]",
        "1 manifest: 1 error",
    ]
    assert [one["id"] for one in json.loads(run("check", "garage", "--json")[1])["problems"]] == ["toa.E004"]
    assert run("check", "nowhere") == (2, "")
    assert capsys.readouterr().err == "nowhere does not exist\n"


def test_an_unfit_configuration_stops_what_would_start(db, monkeypatch):
    monkeypatch.setenv("TOA_STORE_ORDERS_WINDOW", "soon")

    with pytest.raises(SystemCheckError, match=r"TOA_STORE_ORDERS_WINDOW: \(toa.E105\)"):
        call_command("toa", "sync", skip_checks=False)


def test_the_schema_is_printed_as_it_ships():
    code, said = run("schema")
    assert (code, json.loads(said)) == (0, json.loads(SCHEMA_PATH.read_text(encoding="utf-8")))
