from toa.apps import ComponentConfig


class PaymentsConfig(ComponentConfig):
    """The payment provider, as the shop reaches it."""

    verbose_name = "payments"
