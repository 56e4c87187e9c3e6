from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from store.reports.models import Report


@admin.register(Report)
class ReportAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Reports to look at: they are made on Monday morning."""

    list_display = ["id", "begins", "placed", "cancelled", "total", "updated_at"]
    ordering = ["-id"]
    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
