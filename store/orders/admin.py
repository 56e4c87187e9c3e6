from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from store.orders.models import Order


@admin.register(Order)
class OrderAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Orders to look at: they change through their operations."""

    list_display = ["reference", "customer", "product", "quantity", "total", "status", "reason", "pay_by", "updated_at"]
    list_filter = ["status", "reason"]
    search_fields = ["reference", "customer", "product"]
    ordering = ["-created_at"]
    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
