from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from loyalty.models import Membership


@admin.register(Membership)
class MembershipAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Memberships to look at: they change through their operations."""

    list_display = ["id", "points", "tier", "month", "free", "updated_at"]
    list_filter = ["tier"]
    search_fields = ["id"]
    ordering = ["id"]
    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
