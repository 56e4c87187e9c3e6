"""The form that asks for the new moment of a stored call."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django import forms
from django.contrib.admin.widgets import AdminSplitDateTime
from django.core.exceptions import ValidationError
from django.utils import timezone

from toa.core.clock import to_moment
from toa.exceptions import InvalidDuration, InvalidInput
from toa.runtime import arming, clock


class MoveForm(forms.Form):
    """A length of time from now, or a date; one of them. Cleaned, it holds `interval` as text or `at` in epoch ms."""

    interval = forms.CharField(
        label="In", required=False, max_length=100, help_text="A length of time from now: 2h, 1d12h, 90s."
    )
    at = forms.SplitDateTimeField(label="Or at", required=False, widget=AdminSplitDateTime)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["at"].help_text = f"Date and time in the zone {timezone.get_current_timezone_name()}."

    def clean_interval(self) -> str | None:
        interval: str | None = self.cleaned_data["interval"] or None
        if interval is not None:
            try:
                arming.due_moment(clock.clock().now(), interval, None)
            except (InvalidDuration, InvalidInput) as error:
                raise ValidationError(str(error)) from None
        return interval

    def clean_at(self) -> int | None:
        given: datetime | None = self.cleaned_data["at"]
        if given is None:
            return None
        at = to_moment(given)
        if at <= clock.clock().now():
            raise ValidationError("This moment is over. Use Make now to have the call made at once.")
        return at

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if not self.errors and (cleaned.get("interval") is None) == (cleaned.get("at") is None):
            raise ValidationError("Give a length of time or a date, one of them.")
        return cleaned
