"""Why something will, did or did not happen to one object: facts, and sentences made of them."""
