from __future__ import annotations

from django.contrib import admin

from store.reports.models import Report
from toa.admin import EntityAdmin

admin.site.register(Report, EntityAdmin)
