"""A client for a server: it offers the calls of the HTTP API as Python calls.

The client retries a call that failed, and the server carries out each call only once. Answers are the JSON of the API,
as dicts and lists. The server checks the arguments. This package needs httpx. It imports only a few small modules of
Ostinato, such as `errors`, `backoff` and `blocking`.
"""

from ostinato.client.blocking import SyncClient
from ostinato.client.calling import Answered, Denied, Json, ServerFailed, Unreachable
from ostinato.client.client import DEFAULT_SERVER, Client

__all__ = ["DEFAULT_SERVER", "Answered", "Client", "Denied", "Json", "ServerFailed", "SyncClient", "Unreachable"]
