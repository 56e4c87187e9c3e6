"""What every commit of an entity changed, and why."""

from __future__ import annotations

from typing import Any, ClassVar

from django.db import models

from toa.core.identity import uuid7
from toa.models.fields import MomentField


class Revision(models.Model):
    """One commit of one entity of a component with `history`."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    component = models.CharField(max_length=127)
    entity = models.CharField(max_length=200, help_text="Id of the object.")
    version = models.BigIntegerField()
    endpoint = models.CharField(max_length=191)
    changes = models.JSONField(help_text="Property -> [before, after].")
    outside = models.BooleanField(help_text="The row was changed beside operations since the revision before.")
    digest = models.CharField(max_length=64, help_text="Of the state after this commit.")
    reached = models.CharField(max_length=63, blank=True, help_text="The deadline that this commit was made for.")
    moment = MomentField(null=True, blank=True, help_text="The moment that was reached.")
    cause = models.JSONField(null=True, blank=True)
    at = MomentField()

    class Meta:
        constraints: ClassVar[list[Any]] = [
            # Also the index that finds an object's history, and the revision before.
            models.UniqueConstraint(fields=["component", "entity", "version"], name="toa_revision_version"),
        ]
        indexes: ClassVar[list[Any]] = [models.Index(fields=["at"], name="toa_revision_at")]

    def __str__(self) -> str:
        return f"{self.component} {self.entity} v{self.version} by {self.endpoint}"
