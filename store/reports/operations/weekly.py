from typing import Any

from store.reports.calendar import week_before
from store.reports.figures import report
from store.reports.types import EffectContext, WeeklyInput


def effect(input: WeeklyInput, context: EffectContext) -> dict[str, Any]:
    """Report on the week before `at`, the moment the report was due, however late it is made.

    A second report on the same week, after a crash or by hand, takes the place of the first.
    """
    return report(context, *week_before(input.at))
