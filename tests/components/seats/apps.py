from toa import ComponentConfig


class SeatsConfig(ComponentConfig):
    """components.seats"""
