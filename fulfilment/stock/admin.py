from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from fulfilment.stock.models import Stock


@admin.register(Stock)
class StockAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Stock to look at: it changes through its operations."""

    list_display = ["id", "available", "kept", "orders", "updated_at"]
    search_fields = ["id"]
    ordering = ["id"]

    @admin.display(description="kept for orders")
    def kept(self, stock: Stock) -> int:
        return sum(stock.reserved.values())

    @admin.display(description="orders")
    def orders(self, stock: Stock) -> int:
        return len(stock.reserved)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
