from toa.apps import ComponentConfig


class OrdersConfig(ComponentConfig):
    """Orders of the shop."""

    verbose_name = "orders"
