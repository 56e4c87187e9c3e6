from toa import ComponentConfig


class BeaconsConfig(ComponentConfig):
    """components.beacons"""
