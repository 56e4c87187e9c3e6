from toa.apps import ComponentConfig


class LifecycleConfig(ComponentConfig):
    """The lives of orders."""

    verbose_name = "lives of orders"
