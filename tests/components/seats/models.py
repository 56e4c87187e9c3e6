from toa import Entity


class Seat(Entity):
    """A row with all that a statement can break on."""
