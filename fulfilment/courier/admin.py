from __future__ import annotations

from django.contrib import admin

from fulfilment.courier.models import Booking
from toa.admin import EntityAdmin

admin.site.register(Booking, EntityAdmin)
