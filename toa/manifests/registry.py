"""All components of this process: read once, when they are first asked for, and shared by all threads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from threading import RLock
from types import MappingProxyType

from toa.core.nearest import did_you_mean
from toa.core.specs import ComponentSpec, OperationSpec
from toa.exceptions import UnknownEndpoint
from toa.manifests.compile import Loaded, find_package, load_directory
from toa.manifests.crosscheck import cross_check
from toa.manifests.problems import Problem, in_order

_lock = RLock()
_loaded: dict[str, Loaded | None] = {}
"""By package; null for a package without a manifest."""
_registered: dict[str, None] = {}
_components: Mapping[str, ComponentSpec] | None = None
_endpoints: dict[str, tuple[ComponentSpec, OperationSpec]] = {}


def component_of_package(package: str) -> ComponentSpec | None:
    """The component of a package, or null where it has no manifest or nothing of it could be read.

    Asking registers it. What does not hold is left out of the spec and told by `problems`.
    """
    loaded = _load(package)
    return loaded.spec if loaded else None


def register(packages: Iterable[str]) -> None:
    """Make the components of these packages known; packages without a manifest are passed over."""
    for package in packages:
        _load(package)


def packages() -> tuple[str, ...]:
    """The packages of all registered components, in the order of registration."""
    with _lock:
        return tuple(_registered)


def files() -> tuple[Path, ...]:
    """The files of all registered manifests, for those who watch them."""
    with _lock:
        return tuple(one.file for package in _registered if (one := _loaded[package]) and one.file)


def all() -> Mapping[str, ComponentSpec]:
    """Every registered component by locator, in the order of registration. Of two with one locator, the first."""
    global _components
    with _lock:
        if _components is None:
            found: dict[str, ComponentSpec] = {}
            for package in _registered:
                loaded = _loaded[package]
                if loaded is not None and loaded.spec is not None:
                    found.setdefault(loaded.spec.locator, loaded.spec)
            _components = MappingProxyType(found)
        return _components


def component(locator: str) -> ComponentSpec:
    """The component of that locator (`store.orders`). Raises UnknownEndpoint with the nearest name."""
    components = all()
    try:
        return components[locator]
    except KeyError:
        raise UnknownEndpoint(f"no component is called '{locator}'", hint=did_you_mean(locator, components)) from None


def endpoint(name: str) -> tuple[ComponentSpec, OperationSpec]:
    """Component and operation of an endpoint (`store.orders.cancel`). Raises UnknownEndpoint with the nearest name."""
    found = _endpoints.get(name)
    if found is None:
        locator, _, operation = name.rpartition(".")
        spec = all().get(locator)
        if spec is None or operation not in spec.operations:
            known = [one.endpoint(operation) for one in all().values() for operation in one.operations]
            raise UnknownEndpoint(f"no operation is called '{name}'", hint=did_you_mean(name, known))
        found = _endpoints[name] = (spec, spec.operations[operation])
    return found


def problems() -> tuple[Problem, ...]:
    """The problems of all registered manifests, those between them included, by place."""
    return in_order([*_own_problems(), *check_all()])


def check_all() -> tuple[Problem, ...]:
    """What is wrong between the registered components: clashing names, events that nobody has."""
    with _lock:
        loaded = [one for package in _registered if (one := _loaded[package]) is not None]
    return cross_check(loaded)


def reset() -> None:
    """Forget everything that was read and registered."""
    global _components
    with _lock:
        _loaded.clear()
        _registered.clear()
        _endpoints.clear()
        _components = None


def _own_problems() -> list[Problem]:
    with _lock:
        return [problem for package in _registered for problem in getattr(_loaded[package], "problems", ())]


def _load(package: str) -> Loaded | None:
    global _components
    with _lock:
        if package in _loaded:
            return _loaded[package]
    # Importing the packages above takes Python's own locks, which must not be waited for while holding ours.
    directory = find_package(package)
    with _lock:
        if package not in _loaded:
            _loaded[package] = None if directory is None else load_directory(directory, package)
            if _loaded[package] is not None:
                _registered[package] = None
                _components = None
                _endpoints.clear()
        return _loaded[package]
