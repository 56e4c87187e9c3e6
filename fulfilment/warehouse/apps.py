from toa.apps import ComponentConfig


class WarehouseConfig(ComponentConfig):
    """The warehouse, as the shop reaches it."""

    verbose_name = "warehouse"
