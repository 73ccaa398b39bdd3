"""Call the HTTP API of a server from Python.

The client sends a failed call again, and the server carries out a repeated call only once. Answers are the JSON of the
API, as dicts and lists. This package needs httpx, and imports only a few small modules of Ostinato.
"""

from ostinato.client.blocking import SyncClient
from ostinato.client.calling import Answered, Denied, Json, ServerFailed, Unreachable
from ostinato.client.client import DEFAULT_SERVER, Client

__all__ = ["DEFAULT_SERVER", "Answered", "Client", "Denied", "Json", "ServerFailed", "SyncClient", "Unreachable"]
