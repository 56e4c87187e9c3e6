from toa.models import Entity


class Stock(Entity):
    """The stock of one product, named by the product itself."""

    class Meta:
        verbose_name = "stock"
        verbose_name_plural = "stock"

    def __str__(self) -> str:
        return f"{self.id}: {self.available} available"
