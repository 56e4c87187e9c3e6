"""What became of calls: history, failures, remembered replies."""

from __future__ import annotations

from typing import Any, ClassVar

from django.db import models

from toa.core.identity import uuid7
from toa.models.fields import MomentField


class Outcome(models.TextChoices):
    """What became of a call."""

    MADE = "made"
    REFUSED = "refused"
    EXPIRED = "expired"
    CANCELLED = "cancelled"
    REPLACED = "replaced"
    FAILED = "failed"
    SKIPPED = "skipped"
    MISSED = "missed"
    LAPSED = "lapsed"


class History(models.Model):
    """One line for each call that was settled, whatever the outcome. Pruned by age."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    call = models.UUIDField(help_text="Id the call had while it was live.")
    source = models.CharField(max_length=8, help_text="delay, send, delivery, pulse or schedule.")
    endpoint = models.CharField(max_length=191)
    entity = models.CharField(max_length=200, blank=True, help_text="Whom it concerned: `component:id`.")
    outcome = models.CharField(max_length=10, choices=Outcome.choices)
    code = models.CharField(max_length=200, blank=True, help_text="The Error's code, or why it was not made.")
    due_at = MomentField()
    at = MomentField(help_text="When it was settled.")
    lateness_ms = models.BigIntegerField(help_text="Start minus due.")
    attempt = models.SmallIntegerField(default=1)
    count = models.BigIntegerField(default=1, help_text="Of missed and skipped boundaries: how many in this row.")
    cause = models.JSONField(null=True, blank=True)
    request = models.JSONField(null=True, blank=True, help_text="Of a delivery, so that it can be sent again.")

    class Meta:
        verbose_name_plural = "history"
        indexes: ClassVar[list[Any]] = [
            models.Index(fields=["call"], name="toa_history_call"),
            models.Index(fields=["entity", "at"], name="toa_history_entity"),
            models.Index(fields=["at"], name="toa_history_at"),
            models.Index(fields=["endpoint", "at"], name="toa_history_endpoint"),
            models.Index(fields=["outcome", "at"], condition=~models.Q(outcome="made"), name="toa_history_outcome"),
        ]

    def __str__(self) -> str:
        return f"{self.endpoint} {self.outcome} {self.code}".strip()


class Failure(models.Model):
    """A call that ended in an error and waits for a person."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    call = models.UUIDField()
    source = models.CharField(max_length=8)
    endpoint = models.CharField(max_length=191)
    entity = models.CharField(max_length=200, blank=True)
    request = models.JSONField(null=True)
    error = models.TextField(help_text="One sentence.")
    traceback = models.TextField(blank=True)
    attempts = models.SmallIntegerField()
    due_at = MomentField()
    at = MomentField()
    row = models.JSONField(help_text="The live row as it was, so that a retry is the same call.")

    class Meta:
        indexes: ClassVar[list[Any]] = [
            models.Index(fields=["at"], name="toa_failure_at"),
            models.Index(fields=["call"], name="toa_failure_call"),
            models.Index(fields=["entity", "at"], name="toa_failure_entity"),
            models.Index(fields=["endpoint", "at"], name="toa_failure_endpoint"),
        ]
        permissions = [
            ("retry_failure", "Can have a failed call made again"),
            ("discard_failure", "Can let a failed call go"),
        ]

    def __str__(self) -> str:
        return f"{self.endpoint}: {self.error}"


class Once(models.Model):
    """The reply of a call that carried a once key, remembered for as long as its operation says."""

    digest = models.CharField(max_length=64, primary_key=True, help_text="Of caller, endpoint and key.")
    endpoint = models.CharField(max_length=191)
    fingerprint = models.CharField(max_length=64, help_text="Of the request: another one with the same key is refused.")
    reply = models.JSONField(null=True)
    expires_at = MomentField()

    class Meta:
        indexes: ClassVar[list[Any]] = [models.Index(fields=["expires_at"], name="toa_once_expires")]

    def __str__(self) -> str:
        return f"{self.endpoint} {self.digest[:12]}"
