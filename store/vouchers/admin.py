from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from store.vouchers.models import Voucher


@admin.register(Voucher)
class VoucherAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Vouchers to look at: they change through their operations."""

    list_display = ["id", "discount", "left", "expires", "updated_at"]
    ordering = ["-created_at"]
    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
