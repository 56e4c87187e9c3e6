from toa import Entity


class Timer(Entity):
    """A counter that is added to when its deadline has come."""
