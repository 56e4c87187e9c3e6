"""Processes that are alive, and the offset of a shared clock."""

from __future__ import annotations

from typing import Any, ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models

from toa.models.fields import MomentField


class Process(models.Model):
    """A beat, a worker or a `toa run`: its heartbeat, and the calls it is about to run."""

    id = models.UUIDField(primary_key=True)
    kind = models.CharField(max_length=8, help_text="beat, worker or run; pass: it fires; tick: a tick came to it.")
    host = models.CharField(max_length=255)
    pid = models.IntegerField()
    started_at = MomentField()
    seen_at = MomentField()
    capacity = models.IntegerField(default=0, help_text="How many leased calls it can run side by side.")
    skew_ms = models.BigIntegerField(default=0, help_text="This host's clock minus the database's.")
    running = ArrayField(models.UUIDField(), default=list, help_text="The calls it is about to run, or died running.")

    class Meta:
        verbose_name_plural = "processes"
        indexes: ClassVar[list[Any]] = [models.Index(fields=["seen_at"], name="toa_process_seen")]

    def __str__(self) -> str:
        return f"{self.kind} {self.pid}@{self.host}"


class ClockOffset(models.Model):
    """What a `SharedClock` adds to the database's clock. At most one row; honoured only where a setting allows it."""

    id = models.SmallIntegerField(primary_key=True, default=1)
    offset_ms = models.BigIntegerField(default=0)

    class Meta:
        constraints: ClassVar[list[Any]] = [
            models.CheckConstraint(condition=models.Q(id=1), name="toa_clockoffset_single"),
        ]

    def __str__(self) -> str:
        return f"{self.offset_ms} ms"
