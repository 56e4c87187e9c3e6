from __future__ import annotations

from django.contrib import admin

from store.vouchers.models import Voucher
from toa.admin import EntityAdmin

admin.site.register(Voucher, EntityAdmin)
