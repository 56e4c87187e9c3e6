"""Another release of the code: without some operations, or without whole components."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import MappingProxyType
from unittest import mock

from toa.manifests import registry
from toa.runtime import bindings


@contextmanager
def deployed(*, without: str) -> Iterator[None]:
    """Inside, the process runs code that has no such operation (`store.orders.cancel`) or component (`store.orders`).

    What `toa sync` would write of it is written only where the test calls it.
    """
    present = registry.all()
    locator, _, name = without.rpartition(".")
    if without in present:
        specs = {key: spec for key, spec in present.items() if key != without}
    else:
        assert name in present[locator].operations
        kept = {key: one for key, one in present[locator].operations.items() if key != name}
        heard = tuple(one for one in present[locator].receivers if one.operation != name)
        specs = {**present, locator: replace(present[locator], operations=kept, receivers=heard)}
    bindings.reset()
    with (
        mock.patch.object(registry, "_components", MappingProxyType(specs)),
        mock.patch.object(registry, "_endpoints", {}),
    ):
        yield
    bindings.reset()
