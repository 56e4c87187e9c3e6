"""Projects of a test's own, whose components Django knows while the test runs."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest
from django.apps import apps
from django.test.utils import modify_settings

from toa.manifests import registry
from toa.runtime import bindings

APPS = """\
from toa import ComponentConfig


class Config(ComponentConfig):
    pass
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """A folder on the path that holds components."""

    root: Path
    stack: ExitStack

    def component(self, package: str, manifest: str, *, apps: str = APPS, models: str = "", **operations: str) -> None:
        """Write a component; operations are `name="def transition(…): …"`."""
        folder = self.root.joinpath(*package.split("."))
        (folder / "operations").mkdir(parents=True)
        for part in (folder, folder.parent):
            if part != self.root:
                (part / "__init__.py").touch()
        (folder / "manifest.toa.yaml").write_text(manifest, encoding="utf-8")
        (folder / "apps.py").write_text(apps, encoding="utf-8")
        if models:
            (folder / "models.py").write_text(models, encoding="utf-8")
        for name, source in operations.items():
            (folder / "operations" / f"{name}.py").write_text(f"{source}\n", encoding="utf-8")

    def install(self, *packages: str) -> None:
        """Make the components known to Django, in place of those of the project's settings."""
        self.stack.enter_context(modify_settings(INSTALLED_APPS={"append": list(packages)}))


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    """An empty project beside the real one. What the process had registered comes back."""
    kept = list(registry.packages())
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    before, labels = set(sys.modules), set(apps.all_models)
    with ExitStack() as stack:
        yield Project(root=tmp_path, stack=stack)
    for label in set(apps.all_models) - labels:
        del apps.all_models[label]
    apps.clear_cache()
    for name in set(sys.modules) - before:
        if name.partition(".")[0] in {path.name for path in tmp_path.iterdir()}:
            del sys.modules[name]
    monkeypatch.undo()
    registry.reset()
    registry.register(kept)
    bindings.reset()
