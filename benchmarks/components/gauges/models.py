from toa import Entity


class Gauge(Entity):
    """A counter with a history, whose changes are events."""
