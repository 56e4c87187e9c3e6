from toa.models import Entity


class Order(Entity):
    """One line of the shop's order book: so many of one product, for one customer."""

    class Meta:
        verbose_name = "order"

    def __str__(self) -> str:
        return f"{self.reference} ({self.status})"
