"""How an instance of a journey moves. Pure: no clock, no store, no network, no expression is evaluated here."""
