from __future__ import annotations

from django.contrib import admin

from loyalty.models import Membership
from toa.admin import EntityAdmin

admin.site.register(Membership, EntityAdmin)
