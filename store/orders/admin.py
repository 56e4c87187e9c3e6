from __future__ import annotations

from django.contrib import admin

from store.orders.models import Order
from toa.admin import EntityAdmin

admin.site.register(Order, EntityAdmin)
