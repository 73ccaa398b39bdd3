"""The interfaces of Ostinato: HTTP, the command line, and Temporal's gRPC."""
