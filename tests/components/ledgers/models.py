from toa import Entity


class Ledger(Entity):
    """What happened to one tally, in order."""
