from toa import ComponentConfig


class TalliesConfig(ComponentConfig):
    """components.tallies"""
