"""Reports on the shop: one for each week, made on Monday morning."""
