"""The life of an order as a process: until when it must be paid, when the customer is reminded, when it ends."""
