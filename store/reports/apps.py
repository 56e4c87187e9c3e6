from toa.apps import ComponentConfig


class ReportsConfig(ComponentConfig):
    """Reports of the shop."""

    verbose_name = "reports"
