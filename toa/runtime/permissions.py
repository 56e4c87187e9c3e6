"""The Django permission to call an operation, and the rows of all of them.

`store_orders.call_cancel` for `store.orders.cancel`: it belongs to the component's model. A component without an
entity has no model of its own; its permissions belong to toa's `Component`: `toa.call_fulfilment_warehouse_status`.
"""

from __future__ import annotations

from typing import Any

from django.apps import apps
from django.contrib.contenttypes.models import ContentType
from django.db.models import Model

from toa.core.identity import digest
from toa.core.specs import ComponentSpec
from toa.manifests import registry
from toa.models import Component
from toa.runtime.bindings import model_of

LONGEST_CODENAME = 100
LONGEST_NAME = 255


def permission_of(component: ComponentSpec, operation: str) -> str:
    """What `user.has_perm` is asked before a person calls the operation."""
    label = component.label if component.entity is not None else Component._meta.app_label
    return f"{label}.{_codename(component, operation)}"


def caller_of(user: Any) -> str:
    """Whose once keys these are, and who is named in the history. Anonymous callers are one caller."""
    return f"user:{user.pk}" if user and user.is_authenticated else "anonymous"


def create_permissions(using: str) -> None:
    """Create the permissions that are missing, in the database of that alias; none is ever removed."""
    from django.contrib.auth.models import Permission

    wanted = {
        (content_type.pk, _codename(spec, name)): f"Can call {spec.endpoint(name)}"[:LONGEST_NAME]
        for spec in registry.all().values()
        if (content_type := _content_type(spec, using)) is not None
        for name in spec.operations
    }
    permissions = Permission.objects.using(using)
    known = set(permissions.filter(codename__startswith="call_").values_list("content_type_id", "codename"))
    permissions.bulk_create(
        [
            Permission(content_type_id=content_type, codename=codename, name=name)
            for (content_type, codename), name in wanted.items()
            if (content_type, codename) not in known
        ],
        ignore_conflicts=True,
    )


def _codename(component: ComponentSpec, operation: str) -> str:
    if component.entity is not None:
        return f"call_{operation}"
    name = f"call_{component.label}_{operation}"
    return name if len(name) <= LONGEST_CODENAME else f"{name[:91]}_{digest(name)[:8]}"


def _content_type(component: ComponentSpec, using: str) -> ContentType | None:
    """Null for a component whose model is not installed: the system checks tell of that."""
    model: type[Model] = Component
    if component.entity is not None:
        if not apps.is_installed(component.package):
            return None
        try:
            model = model_of(component)
        except LookupError:
            return None
    return ContentType.objects.db_manager(using).get_for_model(model)
