"""`Order.operations.cancel(id, reason="…")`: the operations of a component, called through its model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from toa.core.nearest import did_you_mean
from toa.core.specs import ComponentSpec, OperationSpec, QueryRule, Scope
from toa.manifests.types.operations import KEYWORDS, QUERY
from toa.models import Entity
from toa.runtime.calls import call


class OperationsOfModel:
    """The attribute `operations` of every entity's model."""

    def __get__(self, instance: Entity | None, owner: type[Entity]) -> Operations:
        if owner.component is None:
            raise AttributeError(f"{owner.__name__} belongs to no component, and has no operations")
        return Operations(owner.component)


class Operations:
    """The operations of one component, each as a function.

    The object's id comes first, where the operation takes one; the properties of the input are keywords, or the whole
    input is given as `input=`. Keywords of a query (`version`, `criteria`, `limit`, …), `once`, `caller` and `check`
    mean what they mean to `toa.call`; an input with a property of such a name is given whole.
    """

    def __init__(self, component: ComponentSpec) -> None:
        self._component = component

    def __getattr__(self, name: str) -> Callable[..., Any]:
        spec = self._component.operations.get(name)
        if spec is None:
            hint = did_you_mean(name, self._component.operations)
            raise AttributeError(f"{self._component.locator} has no operation {name!r}; {hint}")
        return _Function(self._component.endpoint(name), spec)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._component.operations})

    def __repr__(self) -> str:
        return f"<operations of {self._component.locator}: {', '.join(self._component.operations)}>"


class _Function:
    """One operation."""

    def __init__(self, endpoint: str, spec: OperationSpec) -> None:
        self.endpoint = endpoint
        self.spec = spec
        self.__doc__ = spec.description or None
        self.__name__ = spec.name

    def __call__(self, *identities: Any, **words: Any) -> Any:
        query = self._query(identities, words)
        options = {name: words.pop(name) for name in KEYWORDS if name in words and name != "input"}
        return call(self.endpoint, self._input(words), query, **options)

    def __repr__(self) -> str:
        return f"<operation {self.endpoint}>"

    def _query(self, identities: tuple[Any, ...], words: dict[str, Any]) -> dict[str, Any] | None:
        """Take the query out of the keywords."""
        takes_id = self.spec.query is not QueryRule.ABSENT and self.spec.scope is not Scope.ENTRIES
        named = takes_id and "id" in words and "id" not in (self.spec.input or {}).get("properties", {})
        given = [*identities, *([words.pop("id")] if named else [])]
        if len(given) > int(takes_id):
            takes = "one id" if takes_id else "no id"
            raise TypeError(f"{self.endpoint} takes {takes}; its input is given by keywords, or whole as input=")
        query = {name: words.pop(name) for name in QUERY if name in words}
        query = {
            name: value for name, value in {"id": given[0] if given else None, **query}.items() if value is not None
        }
        return query or None

    def _input(self, words: dict[str, Any]) -> Any:
        if "input" not in words:
            return words if words or self.spec.input is not None else None
        whole = words.pop("input")
        if words:
            raise TypeError(f"{self.endpoint} is given either input= or {', '.join(sorted(words))}")
        return whole
