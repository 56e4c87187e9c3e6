from __future__ import annotations

from django.contrib import admin

from store.lifecycle.models import Process
from toa.admin import EntityAdmin

admin.site.register(Process, EntityAdmin)
