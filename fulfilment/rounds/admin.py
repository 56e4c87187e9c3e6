from __future__ import annotations

from django.contrib import admin

from fulfilment.rounds.models import Round
from toa.admin import EntityAdmin


@admin.register(Round)
class RoundAdmin(EntityAdmin):
    """How far the rounds have come."""

    list_display = ("id", "after", "ended", "updated_at")
