from toa.apps import ComponentConfig


class RoundsConfig(ComponentConfig):
    """Rounds of the shop."""

    verbose_name = "rounds"
