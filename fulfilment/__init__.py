"""The shop's fulfilment: what happens between an order and its parcel."""
