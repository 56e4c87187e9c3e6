"""Locks that effects hold while they create something outside."""

from __future__ import annotations

from typing import Any, ClassVar

from django.db import models

from toa.models.fields import MomentField


class Lock(models.Model):
    """The right of one call to a key, until a moment that it moves on while it lives."""

    key = models.CharField(max_length=320, primary_key=True, help_text="`component:key`.")
    token = models.UUIDField(help_text="Of the holder.")
    holder = models.CharField(max_length=191, help_text="The endpoint that holds it.")
    taken_at = MomentField()
    until = MomentField(help_text="When it lapses unless it is renewed.")

    class Meta:
        indexes: ClassVar[list[Any]] = [models.Index(fields=["until"], name="toa_lock_until")]

    def __str__(self) -> str:
        return self.key
