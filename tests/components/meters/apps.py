from toa import ComponentConfig


class MetersConfig(ComponentConfig):
    """components.meters"""
