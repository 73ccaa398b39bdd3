"""Offer Ostinato through four interfaces: HTTP, the command line, MCP, and Temporal's gRPC protocol."""
