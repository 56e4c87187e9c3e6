from toa import ComponentConfig


class ClaimsConfig(ComponentConfig):
    """components.claims"""
