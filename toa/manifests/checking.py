"""Checking the manifests below some paths, without a project, without Django and without importing anything."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from toa.manifests.compile import FILENAME, Loaded, load_path
from toa.manifests.crosscheck import cross_check
from toa.manifests.identity import package_of
from toa.manifests.problems import Problem, in_order

_PASSED_OVER = frozenset({"__pycache__", "build", "dist", "node_modules", "site-packages", "venv"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """The manifests that were found, and all that is wrong with them."""

    manifests: tuple[Loaded, ...]
    problems: tuple[Problem, ...]

    @property
    def errors(self) -> int:
        return sum(problem.level == "error" for problem in self.problems)

    @property
    def warnings(self) -> int:
        return len(self.problems) - self.errors


def check(paths: Iterable[Path]) -> Checked:
    """Compile every manifest below the paths and hold them against one another.

    Receivers of components that are not below the paths cannot be checked; they are warnings.
    """
    paths = list(paths)
    loaded = tuple(load_path(path, package_of(path.parent, *paths)) for path in find_manifests(paths))
    problems = [problem for one in loaded for problem in one.problems]
    return Checked(manifests=loaded, problems=in_order([*problems, *cross_check(loaded, complete=False)]))


def find_manifests(paths: Iterable[Path]) -> list[Path]:
    """The manifests at or below the paths, each once, in order. Hidden folders and installed packages are left out."""
    found: dict[Path, Path] = {}
    for path in paths:
        for manifest in [path] if path.is_file() else _below(path):
            found.setdefault(manifest.resolve(), manifest)
    return sorted(found.values())


def _below(root: Path) -> Iterator[Path]:
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in _PASSED_OVER and not name.startswith("."))
        if FILENAME in files:
            yield Path(folder, FILENAME)
