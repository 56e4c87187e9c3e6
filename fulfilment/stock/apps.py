from toa.apps import ComponentConfig


class StockConfig(ComponentConfig):
    verbose_name = "stock"
