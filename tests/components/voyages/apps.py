from toa import ComponentConfig


class VoyagesConfig(ComponentConfig):
    """components.voyages"""
