"""Compute how an instance moves through its states. This package uses no clock, store or network, and evaluates no
expressions."""
