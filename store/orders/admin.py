from django.contrib import admin

from store.orders.models import Order


@admin.register(Order)
class OrderAdmin(admin.ModelAdmin):
    """Orders to look at: they change through their operations."""

    list_display = ["reference", "customer", "product", "quantity", "total", "status", "reason", "pay_by", "updated_at"]
    list_filter = ["status", "reason"]
    search_fields = ["reference", "customer", "product"]
    ordering = ["-created_at"]
    show_full_result_count = False

    def has_add_permission(self, request):
        return False

    def has_change_permission(self, request, obj=None):
        return False

    def has_delete_permission(self, request, obj=None):
        return False
