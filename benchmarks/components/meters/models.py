from toa import Entity


class Meter(Entity):
    """A counter that nobody follows."""
