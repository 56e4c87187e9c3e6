from django.contrib import admin

from fulfilment.stock.models import Stock


@admin.register(Stock)
class StockAdmin(admin.ModelAdmin):
    """Stock to look at: it changes through its operations."""

    list_display = ["id", "available", "kept", "orders", "updated_at"]
    search_fields = ["id"]
    ordering = ["id"]

    @admin.display(description="kept for orders")
    def kept(self, stock):
        return sum(stock.reserved.values())

    @admin.display(description="orders")
    def orders(self, stock):
        return len(stock.reserved)

    def has_add_permission(self, request):
        return False

    def has_change_permission(self, request, obj=None):
        return False

    def has_delete_permission(self, request, obj=None):
        return False
