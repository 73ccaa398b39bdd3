"""The languages that journeys compute in, and the processes that hold them."""
