from toa import Entity


class Hazard(Entity):
    """A row whose operations do what `mode` says, at the worst moment."""
