"""Runs of workflows: what is still on its way, what it has done so far, what it waits for, and what has ended.

A run that is on its way is one row of `Run`; its journal is a row of `RunStep` for each step that was done, and an
effect that it waits for is a row of `RunCall`. When it ends, all of them leave in the transaction that writes one row
of `EndedRun`.
"""

from __future__ import annotations

from typing import Any, ClassVar

from django.db import models

from toa.core.identity import uuid7
from toa.models.bounds import readable
from toa.models.calls import LiveCall
from toa.models.fields import MomentField


class Run(LiveCall):
    """A run of a workflow that has not ended. `due_at` is the moment it was planned for; `wake_at` when to go on: null
    while it waits for an effect alone, and after a failure, until somebody decides."""

    key = models.CharField(max_length=191, blank=True, help_text="What a repeated start is known by.")
    seq = models.BigIntegerField(default=0, help_text="Rises with every change: of two that go on, one does.")
    steps = models.IntegerField(default=0, help_text="Rows of its journal.")
    waits = models.JSONField(null=True, blank=True, help_text="What it waits for: kind, name, position, until, call.")
    watches = models.JSONField(default=dict, blank=True, help_text="Identity of a watch -> its phase and its cursor.")
    cancel_at = MomentField(null=True, blank=True, help_text="When somebody asked for its end.")
    cancel_by = models.CharField(max_length=150, blank=True)
    failed_at = MomentField(null=True, blank=True, help_text="Since when it waits for a decision.")

    class Meta:
        indexes: ClassVar[list[Any]] = [
            models.Index(fields=["endpoint", "wake_at", "id"], name="toa_run_claim"),
            models.Index(fields=["due_at", "id"], name="toa_run_due"),
            models.Index(fields=["key"], condition=~models.Q(key=""), name="toa_run_key"),
        ]
        constraints: ClassVar[list[Any]] = [
            readable("due_at", "wake_at", "created_at", "cancel_at", "failed_at", name="toa_run_readable"),
        ]
        permissions = [
            ("start_run", "Can start a run of a workflow"),
            ("cancel_run", "Can cancel a run"),
        ]


class RunStep(models.Model):
    """One step of a run, as it was done; a replay is given the same."""

    pk = models.CompositePrimaryKey("run", "position")
    run = models.UUIDField()
    position = models.IntegerField()
    kind = models.CharField(max_length=10)
    name = models.CharField(max_length=191, blank=True, help_text="The endpoint of a call, the identity of a watch.")
    outcome = models.CharField(max_length=9)
    value = models.JSONField(null=True)
    at = MomentField()

    def __str__(self) -> str:
        return f"{self.position} {self.kind} {self.name}".strip()


class RunCall(LiveCall):
    """An effect that a run waits for: a leased call of its own, whose settlement wakes the run."""

    run = models.UUIDField()
    position = models.IntegerField()

    class Meta:
        indexes: ClassVar[list[Any]] = [
            models.Index(fields=["endpoint", "wake_at", "id"], name="toa_runcall_claim"),
            models.Index(fields=["endpoint"], condition=models.Q(token__isnull=False), name="toa_runcall_leased"),
            models.Index(fields=["run"], name="toa_runcall_run"),
        ]
        constraints: ClassVar[list[Any]] = [
            readable("due_at", "wake_at", "created_at", name="toa_runcall_readable"),
        ]


class EndedRun(models.Model):
    """A run that has ended, with its journal. Pruned by age."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    endpoint = models.CharField(max_length=191)
    request = models.JSONField()
    key = models.CharField(max_length=191, blank=True)
    outcome = models.CharField(max_length=10, help_text="made, refused, failed or cancelled.")
    result = models.JSONField(null=True, blank=True)
    error = models.TextField(blank=True, help_text="One sentence: an Error's code, why it failed, who cancelled it.")
    steps = models.JSONField(default=list, help_text="The journal as it was at the end.")
    cause = models.JSONField(null=True, blank=True)
    due_at = MomentField()
    created_at = MomentField()
    ended_at = MomentField()

    class Meta:
        indexes: ClassVar[list[Any]] = [
            models.Index(fields=["endpoint", "ended_at"], name="toa_endedrun_endpoint"),
            models.Index(fields=["ended_at"], name="toa_endedrun_ended"),
        ]

    def __str__(self) -> str:
        return f"{self.endpoint} {self.outcome}"
