from toa.apps import ComponentConfig


class VouchersConfig(ComponentConfig):
    verbose_name = "vouchers"
