from __future__ import annotations

from django.contrib import admin

from store.payments.models import Refund
from toa.admin import EntityAdmin

admin.site.register(Refund, EntityAdmin)
