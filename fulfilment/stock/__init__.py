"""Stock: how much of each product is there, and for which orders it is kept."""
