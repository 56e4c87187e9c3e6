from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from store.lifecycle.models import Process


@admin.register(Process)
class ProcessAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Processes to look at: they change through their operations, and by their deadlines."""

    list_display = ["reference", "payment_deadline", "reminder", "reminders", "timeout_at", "clock_state", "held_at"]
    list_filter = ["clock_state"]
    search_fields = ["=id", "=reference"]
    ordering = ["-id"]
    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
