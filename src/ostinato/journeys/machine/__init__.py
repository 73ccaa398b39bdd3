"""Compute how an instance moves through its states, without clock, store, network and expressions."""
