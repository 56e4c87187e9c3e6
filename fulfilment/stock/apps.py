from toa.apps import ComponentConfig


class StockConfig(ComponentConfig):
    """Stock of the shop."""

    verbose_name = "stock"
