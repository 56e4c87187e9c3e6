from __future__ import annotations

from django.contrib import admin

from fulfilment.stock.models import Stock
from toa.admin import EntityAdmin


@admin.register(Stock)
class StockAdmin(EntityAdmin):
    """Stock, with what is kept for orders added up."""

    list_display = ("id", "available", "kept", "orders", "updated_at")

    @admin.display(description="kept for orders")
    def kept(self, stock: Stock) -> int:
        return sum(stock.reserved.values())

    @admin.display(description="orders")
    def orders(self, stock: Stock) -> int:
        return len(stock.reserved)
