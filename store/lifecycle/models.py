from toa.models import Entity


class Process(Entity):
    """The life of one order, under the order's own id."""

    class Meta:
        verbose_name = "process"
        verbose_name_plural = "processes"

    def __str__(self) -> str:
        return f"process of {self.reference or self.id}"
