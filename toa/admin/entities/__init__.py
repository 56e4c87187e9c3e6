"""The objects of components in Django's admin: to look at, and to call their operations on."""
