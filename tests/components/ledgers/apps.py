from toa import ComponentConfig


class LedgersConfig(ComponentConfig):
    """components.ledgers"""
