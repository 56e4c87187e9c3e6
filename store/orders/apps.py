from toa.apps import ComponentConfig


class OrdersConfig(ComponentConfig):
    verbose_name = "orders"
