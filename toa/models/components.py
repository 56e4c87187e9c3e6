"""What `toa sync` writes: the components this release knows, their pulses and their schedules."""

from __future__ import annotations

from typing import Any, ClassVar

from django.db import models

from toa.core.identity import uuid7
from toa.models.bounds import readable
from toa.models.fields import MomentField


class Component(models.Model):
    """A component as its manifest said when it was last synced."""

    locator = models.CharField(max_length=127, primary_key=True)
    description = models.TextField(blank=True)
    manifest = models.JSONField(help_text="The manifest as read.")
    operations = models.JSONField(help_text="Name of each operation ever synced -> type, and since when it is retired.")
    digest = models.CharField(max_length=64)
    release = models.BigIntegerField(help_text="Rises with each release; rows of a newer one are not overwritten.")
    synced_at = MomentField()
    retired_at = MomentField(null=True, blank=True)

    class Meta:
        ordering: ClassVar[list[str]] = ["locator"]

    def __str__(self) -> str:
        return self.locator


class Pulse(models.Model):
    """Calls of one operation on a fixed grid, and where they stand.

    `wake_at` is when to look next: the coming boundary, or, while a call runs, the end of its lease. `cursor` is the
    ordinal of the last boundary that was called, missed or skipped.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    endpoint = models.CharField(max_length=191)
    name = models.CharField(max_length=63, blank=True)
    cycle_ms = models.BigIntegerField()
    intervals = models.IntegerField(default=1)
    scope = models.CharField(max_length=8, default="group")
    query = models.JSONField(null=True, blank=True, help_text="Of a declared sweep: whom to call.")
    input = models.JSONField(null=True, blank=True, help_text="Of a declared sweep: with what.")
    overridden = models.BooleanField(
        default=False, help_text="The settings of this environment changed the manifest's grid."
    )
    cursor = models.BigIntegerField()
    wake_at = MomentField(
        null=True, blank=True, help_text="Null while paused or retired, and where each process keeps its own time."
    )
    running = models.BigIntegerField(null=True, blank=True, help_text="Ordinal of the boundary whose call runs.")
    started_at = MomentField(null=True, blank=True)
    token = models.UUIDField(null=True, blank=True)
    fire_at = MomentField(null=True, blank=True, help_text="Somebody asked for a call beside the grid.")
    fire_by = models.CharField(max_length=150, blank=True)
    paused_at = MomentField(null=True, blank=True)
    paused_by = models.CharField(max_length=150, blank=True)
    retired_at = MomentField(null=True, blank=True)

    class Meta:
        ordering: ClassVar[list[str]] = ["endpoint", "name"]
        permissions = [
            ("pause_pulse", "Can pause and resume a pulse"),
            ("fire_pulse", "Can have a pulse called now"),
        ]
        constraints: ClassVar[list[Any]] = [
            models.UniqueConstraint(fields=["endpoint", "name"], name="toa_pulse_endpoint_name"),
            readable("wake_at", "fire_at", name="toa_pulse_readable"),
        ]
        indexes: ClassVar[list[Any]] = [
            models.Index(fields=["endpoint", "wake_at", "id"], name="toa_pulse_claim"),
        ]

    def __str__(self) -> str:
        return f"{self.endpoint} {self.name}".strip()


class Schedule(models.Model):
    """Calls of one operation at occurrences of the calendar, and where the calendar stands.

    `cursor` is the last occurrence that was dealt with, or the moment from which the calendar counts; it never moves
    back. `due_at` is the next occurrence, and `wake_at` the same with its jitter. The calls themselves are rows of
    `ScheduledCall`, stored in the transaction that moves the cursor.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    endpoint = models.CharField(max_length=191)
    name = models.CharField(max_length=63, blank=True)
    expression = models.TextField()
    zone = models.CharField(max_length=64)
    overdue_ms = models.BigIntegerField(null=True, blank=True)
    catch_up = models.CharField(max_length=8)
    each_max = models.IntegerField()
    each_window_ms = models.BigIntegerField()
    overlap = models.CharField(max_length=8)
    gap = models.CharField(max_length=8)
    fold = models.CharField(max_length=8)
    jitter_ms = models.BigIntegerField()
    query = models.JSONField(null=True, blank=True, help_text="Of a declared sweep: whom to call.")
    input = models.JSONField(null=True, blank=True, help_text="Of a declared sweep: with what.")
    overridden = models.BooleanField(
        default=False, help_text="The settings of this environment changed what the manifest says."
    )
    cursor = MomentField()
    cursor_offset_s = models.IntegerField(
        help_text="Seconds east of UTC at the cursor, by the time zone rules that held when it was set."
    )
    due_at = MomentField(null=True, blank=True)
    wake_at = MomentField(null=True, blank=True, help_text="Null while paused or retired.")
    paused_at = MomentField(null=True, blank=True)
    paused_by = models.CharField(max_length=150, blank=True)
    retired_at = MomentField(null=True, blank=True)

    class Meta:
        ordering: ClassVar[list[str]] = ["endpoint", "name"]
        permissions = [
            ("pause_schedule", "Can pause and resume a schedule"),
            ("fire_schedule", "Can have a schedule called now"),
        ]
        constraints: ClassVar[list[Any]] = [
            models.UniqueConstraint(fields=["endpoint", "name"], name="toa_schedule_endpoint_name"),
            readable("cursor", "due_at", "wake_at", name="toa_schedule_readable"),
        ]
        indexes: ClassVar[list[Any]] = [
            models.Index(fields=["endpoint", "wake_at", "id"], name="toa_schedule_claim"),
        ]

    def __str__(self) -> str:
        return f"{self.endpoint} {self.name}".strip()
