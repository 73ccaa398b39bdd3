"""The interfaces of Ostinato: HTTP, the command line, MCP, and Temporal's gRPC protocol."""
