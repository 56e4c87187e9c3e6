from toa.apps import ComponentConfig


class CourierConfig(ComponentConfig):
    """The courier, as the shop reaches it."""

    verbose_name = "courier"
