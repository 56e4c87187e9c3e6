"""What is wrong with the manifests of the installed components, all of it at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from django.apps import AppConfig, apps
from django.core import checks

from toa.apps import ComponentConfig
from toa.checks.ids import NOT_A_COMPONENT
from toa.checks.messages import message_of
from toa.checks.serving import cadences, is_served, unserved_sorts
from toa.core.specs import ComponentSpec
from toa.manifests import registry
from toa.manifests.compile import FILENAME
from toa.manifests.problems import UNSERVED_CRITERIA, Problem


def check_manifests(app_configs: Sequence[AppConfig] | None, **_: Any) -> list[checks.CheckMessage]:
    """Every problem of every manifest. Criteria that an index of the model itself serves are no problem."""
    problems = [problem for problem in registry.problems() if _concerns(problem, app_configs) and not _is_met(problem)]
    return [message_of(problem) for problem in problems]


def check_apps(app_configs: Sequence[AppConfig] | None, **_: Any) -> list[checks.CheckMessage]:
    """Apps that hold a manifest which nothing would load."""
    return [
        checks.Error(
            f"the app has a {FILENAME}, and its config is no ComponentConfig",
            hint=f"in {config.name.replace('.', '/')}/apps.py: class {_class_name(config)}(ComponentConfig)",
            obj=config.name,
            id=NOT_A_COMPONENT,
        )
        for config in app_configs or apps.get_app_configs()
        if not isinstance(config, ComponentConfig) and (Path(config.path) / FILENAME).is_file()
    ]


def check_sorts(app_configs: Sequence[AppConfig] | None, **_: Any) -> list[checks.CheckMessage]:
    """Declared sweeps whose order no index gives."""
    return [message for spec in registry.all().values() for message in unserved_sorts(spec)]


def _class_name(config: AppConfig) -> str:
    return f"{config.label.title().replace('_', '')}Config"


def _concerns(problem: Problem, app_configs: Sequence[AppConfig] | None) -> bool:
    if app_configs is None:
        return True
    path = Path(problem.path).resolve()
    return any(path.is_relative_to(Path(config.path).resolve()) for config in app_configs)


def _is_met(problem: Problem) -> bool:
    """Whether a warning of unserved criteria is met by an index that the class body of the model declares."""
    if problem.id != UNSERVED_CRITERIA:
        return False
    sweeps = list(_sweeps(problem))
    return bool(sweeps) and all(is_served(spec, query) for spec, query in sweeps)


def _sweeps(problem: Problem) -> Iterator[tuple[ComponentSpec, Mapping[str, Any]]]:
    """The declared sweeps of the operation that the problem's place names."""
    _, _, rest = problem.where.partition(".")
    for spec in registry.all().values():
        if spec.path != problem.path:
            continue
        for declared in cadences(spec):
            if declared.query is not None and rest.split(".")[0].split("[")[0] == declared.operation:
                yield spec, declared.query
