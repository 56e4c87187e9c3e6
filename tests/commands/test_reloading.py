"""Autoreload on what is no loaded module: manifests, operations, events."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import connection
from django.utils import autoreload
from django.utils.autoreload import StatReloader, autoreload_started

from toa.cadence import serving
from toa.cadence.calls import suspects
from toa.cadence.processes import alive
from toa.models import Process


def test_the_reloader_watches_what_decides_about_a_component(project):
    project.component("garage.cars", "description: Cars\n", wash="def effect(input, context): ...")
    project.install("garage.cars")
    reloader = StatReloader()
    autoreload_started.send(sender=reloader)

    folder = project.root / "garage" / "cars"
    seen = changed(reloader)
    assert {folder / "manifest.toa.yaml", folder / "operations" / "wash.py"} <= set(seen)
    added = folder / "operations" / "dry.py"
    added.write_text("def effect(input, context): ...\n")
    assert added in changed(reloader)


def changed(reloader: StatReloader) -> list[Path]:
    return [path for path, _ in reloader.snapshot_files()]


@pytest.fixture
def child(monkeypatch):
    """Runs the command as the child of a reloader that looks often, edits a file once something is so, and answers
    with the exit status. What is set for the process is put back."""
    monkeypatch.setenv(autoreload.DJANGO_AUTORELOAD_ENV, "true")
    monkeypatch.setattr(StatReloader, "SLEEP_TIME", 0.1)
    monkeypatch.setattr(autoreload, "get_reloader", StatReloader)
    # A process that serves keeps a docket and a watermark: the tests after this one do not.
    monkeypatch.setattr(serving, "_serving", False)
    handler = signal.getsignal(signal.SIGTERM)

    def run(file, content, once):
        over = threading.Event()

        def edit():
            try:
                # Again and again: the first edit may come before the reloader's first look.
                for _ in range(200):
                    if once():
                        file.write_text(content)
                    if over.wait(0.1):
                        return
                os.kill(os.getpid(), signal.SIGTERM)
            finally:
                connection.close()

        editor = threading.Thread(target=edit)
        editor.start()
        with pytest.raises(SystemExit) as ended:
            call_command("toa", "run", "--reload", "--threads", "1")
        over.set()
        editor.join()
        return ended.value.code

    yield run
    signal.signal(signal.SIGTERM, handler)
    suspects.close()
    # With what is set for sessions that fire.
    connection.close()


CHANGED = 3
"""The exit status that has the parent start another child."""


@pytest.mark.django_db(transaction=True)
def test_toa_run_lets_what_runs_finish_and_is_started_anew_when_an_operation_changes(project, child):
    project.component("garage.cars", "description: Cars\n", wash="def effect(input, context): ...")
    project.install("garage.cars")
    operation = project.root / "garage" / "cars" / "operations" / "wash.py"
    seen = []

    def running():
        seen.extend(alive("run"))
        return bool(seen)

    assert child(operation, "def effect(input, context): return 1\n", running) == CHANGED
    assert not Process.objects.filter(id=seen[0].id).exists(), "it said good-bye"


@pytest.mark.django_db(transaction=True)
def test_where_the_checks_fail_the_next_change_is_waited_for(project, child, caplog):
    project.component("garage.cars", "descriptoin: Cars\n", wash="def effect(input, context): ...")
    project.install("garage.cars")
    manifest = project.root / "garage" / "cars" / "manifest.toa.yaml"

    def told():
        return "did you mean 'description'?" in caplog.text

    assert child(manifest, "description: Cars\n", told) == CHANGED
