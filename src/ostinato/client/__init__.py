"""A client for a server: the calls of the HTTP API as Python calls, each done once however often it must be tried.

What goes in is checked by the server; what comes out is the API's own JSON, as dicts and lists. It depends on httpx
and on nothing else of Ostinato but its errors.
"""

from ostinato.client.calling import Answered, Denied, Json, ServerFailed, Unreachable
from ostinato.client.client import DEFAULT_SERVER, Client
from ostinato.client.waiting import SyncClient

__all__ = ["DEFAULT_SERVER", "Answered", "Client", "Denied", "Json", "ServerFailed", "SyncClient", "Unreachable"]
