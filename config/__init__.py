"""The Django project around toa and the shop: settings, addresses, servers, entry points."""
