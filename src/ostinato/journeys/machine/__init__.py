"""The state machine of an instance. Pure: it uses no clock, store or network, and evaluates no expressions."""
