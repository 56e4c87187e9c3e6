"""Autoreload on what is no loaded module: manifests, operations, events."""

from __future__ import annotations

from pathlib import Path

from django.utils.autoreload import StatReloader, autoreload_started


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
