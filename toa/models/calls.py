"""Live calls: what is still to be made. A row leaves in the transaction that decides what became of it.

There is no status column: a row is due when `wake_at` is reached. `due_at` is the moment the call was planned for and
never changes by itself; `wake_at` is when to look next (due, next try, or end of a lease).
"""

from __future__ import annotations

from typing import Any, ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models

from toa.core.identity import uuid7
from toa.models.bounds import readable
from toa.models.fields import MomentField


class LiveCall(models.Model):
    """The columns that every kind of stored call shares."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    endpoint = models.CharField(max_length=191)
    request = models.JSONField(help_text="`input` and `query` of the call.")
    due_at = MomentField()
    wake_at = MomentField(null=True, help_text="Null: parked, until somebody decides.")
    attempt = models.SmallIntegerField(default=0, help_text="Tries that ended in a transient error.")
    strikes = models.SmallIntegerField(default=0, help_text="Tries that took their process with them.")
    error = models.TextField(
        blank=True, default="", db_default="", help_text="What the last try ended in, where another one is to come."
    )
    token = models.UUIDField(null=True, blank=True, help_text="Of the lease, while an effect runs.")
    chain = ArrayField(models.CharField(max_length=191), default=list, help_text="The endpoints that led here.")
    cause = models.JSONField(null=True, blank=True, help_text="What stored this call.")
    mark = models.JSONField(null=True, blank=True, help_text="Of a process that ended: whose last words this carries.")
    created_at = MomentField()

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"{self.endpoint} due {self.due_at:%Y-%m-%d %H:%M:%S}"


class Delay(LiveCall):
    """A call to be made once, later (`context.delay`) or at the next pass (`context.send`)."""

    source = models.CharField(max_length=8, default="delay", help_text="`delay` or `send`.")
    entity = models.CharField(max_length=200, blank=True, help_text="Who armed it: `component:id`.")
    # Null, not empty: many without a name are not equal.
    name = models.CharField(  # noqa: DJ001
        max_length=191, null=True, blank=True, help_text="Its key within the entity."
    )
    overdue_ms = models.BigIntegerField(
        null=True, blank=True, help_text="Later than this it expires; null: however late."
    )

    class Meta:
        indexes: ClassVar[list[Any]] = [
            models.Index(fields=["endpoint", "wake_at", "id"], name="toa_delay_claim"),
            models.Index(fields=["endpoint"], condition=models.Q(token__isnull=False), name="toa_delay_leased"),
            models.Index(fields=["entity", "due_at"], name="toa_delay_entity"),
            models.Index(fields=["due_at", "id"], name="toa_delay_due"),
        ]
        constraints: ClassVar[list[Any]] = [
            models.UniqueConstraint(
                fields=["entity", "name"],
                condition=models.Q(name__isnull=False),
                name="toa_delay_entity_name",
            ),
            readable("due_at", "wake_at", "created_at", name="toa_delay_readable"),
        ]
        permissions = [
            ("cancel_delay", "Can cancel a stored call"),
            ("move_delay", "Can give a stored call another moment, or have it made now"),
        ]


class Delivery(LiveCall):
    """One event on its way to one receiver.

    Deliveries of one pair (source entity, receiving component) are made in order: by VERSION of the source, then by
    the receiver's position in its manifest. One that waits, or is parked, holds back the later ones of its pair alone.
    """

    event = models.CharField(max_length=191)
    source = models.CharField(max_length=127, help_text="Component of the entity that changed.")
    source_id = models.CharField(max_length=200)
    version = models.BigIntegerField()
    receiver = models.CharField(max_length=127, help_text="The receiving component.")
    position = models.SmallIntegerField()
    target = models.CharField(max_length=200, blank=True, help_text="Id of the receiving object, where it has one.")

    class Meta:
        verbose_name_plural = "deliveries"
        permissions = [("replay_delivery", "Can have a settled event sent again")]
        indexes: ClassVar[list[Any]] = [
            models.Index(fields=["endpoint", "wake_at", "id"], name="toa_delivery_claim"),
            models.Index(fields=["endpoint"], condition=models.Q(token__isnull=False), name="toa_delivery_leased"),
            # What waits for one object: its deadlines give way to earlier events, and a drain goes through them.
            models.Index(fields=["receiver", "target", "created_at"], name="toa_delivery_target"),
            # Not led by wake_at: the planner would take such an index for a claim and filter by endpoint.
            models.Index(fields=["due_at", "id"], name="toa_delivery_due"),
            models.Index(fields=["due_at", "id"], condition=models.Q(wake_at__isnull=True), name="toa_delivery_parked"),
        ]
        constraints: ClassVar[list[Any]] = [
            # Also the index that finds whether an earlier one of the pair is still there.
            models.UniqueConstraint(
                fields=["source", "source_id", "receiver", "version", "position"], name="toa_delivery_order"
            ),
            readable("due_at", "wake_at", "created_at", name="toa_delivery_readable"),
        ]


class ScheduledCall(LiveCall):
    """One call of a schedule: for one occurrence, or for one object of a declared sweep at that occurrence.

    Calls of one schedule are made one occurrence after another, unless the schedule allows overlap.
    """

    schedule = models.UUIDField()
    at = MomentField(help_text="The occurrence; `due_at` is the same with its jitter.")
    entity = models.CharField(max_length=200, help_text="`schedule:id`, or the object of a sweep.")
    overdue_ms = models.BigIntegerField(
        null=True, blank=True, help_text="Later than this it expires; null: however late."
    )
    beside = models.BooleanField(default=False, help_text="May run beside other calls of its schedule.")
    made_up = models.BooleanField(default=False, help_text="Makes up for a missed occurrence.")

    class Meta:
        indexes: ClassVar[list[Any]] = [
            models.Index(fields=["endpoint", "wake_at", "id"], name="toa_scheduledcall_claim"),
            models.Index(fields=["schedule", "due_at"], name="toa_scheduledcall_order"),
        ]
        constraints: ClassVar[list[Any]] = [
            readable("due_at", "wake_at", "created_at", "at", name="toa_scheduledcall_readable"),
        ]
