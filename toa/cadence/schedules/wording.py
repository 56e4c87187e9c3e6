"""A cron expression in words, for pages and commands: where the package that knows how is installed."""

from __future__ import annotations

from functools import lru_cache

from toa.core.cron import parse_cron

try:  # it comes with django-celery-beat
    from cron_descriptor import Options, get_description
except ImportError:  # pragma: no cover - the development environment has it
    get_description = None


@lru_cache(maxsize=1024)
def in_words(expression: str) -> str:
    """Such as "At 09:00, only on Monday"; the expression itself where nothing can put it into words."""
    if get_description is None:
        return expression
    if not parse_cron(expression).either_day:
        return _described(expression)
    # The day of month or the day of week is enough, which the words of one expression would not say.
    *times, day, month, weekday = expression.split()
    by_day = _described(" ".join([*times, day, month, "*"]))
    by_weekday = _described(" ".join([*times, "*", month, weekday]))
    return f"{by_day}; also {by_weekday[:1].lower()}{by_weekday[1:]}"


def _described(expression: str) -> str:
    options = Options()
    options.use_24hour_time_format = True
    options.locale_code = "en_US"
    try:
        return str(get_description(expression, options))
    except Exception:  # whatever a parser of another kind stumbles over: the expression says it too
        return expression
