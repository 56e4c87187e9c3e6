"""Moments of stored work are those of the years 1 to 9999: another one would break every look for what is due."""

from datetime import UTC, datetime

from django.db import migrations, models

BOUNDS = (datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, 59, 59, 999000, tzinfo=UTC))
COLUMNS = {
    "delay": ("due_at", "wake_at", "created_at"),
    "delivery": ("due_at", "wake_at", "created_at"),
    "pulse": ("wake_at", "fire_at"),
    "run": ("due_at", "wake_at", "created_at", "cancel_at", "failed_at"),
    "runcall": ("due_at", "wake_at", "created_at"),
    "schedule": ("cursor", "due_at", "wake_at"),
    "scheduledcall": ("due_at", "wake_at", "created_at", "at"),
}


def condition(columns):
    """All columns at once."""
    found = models.Q()
    for column in columns:
        found &= models.Q(**{f"{column}__range": BOUNDS})
    return found


class Migration(migrations.Migration):
    dependencies = [("toa", "0003_runs")]

    operations = [
        migrations.AddConstraint(
            model_name=name,
            constraint=models.CheckConstraint(condition=condition(columns), name=f"toa_{name}_readable"),
        )
        for name, columns in COLUMNS.items()
    ]
