from toa import Entity


class Voyage(Entity):
    """How far somebody came."""
