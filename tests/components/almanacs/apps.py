from toa import ComponentConfig


class AlmanacsConfig(ComponentConfig):
    """components.almanacs"""
