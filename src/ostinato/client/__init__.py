"""A client for a server: the calls of the HTTP API as Python calls. It retries calls, and the server does each of them
once.

Answers are the JSON of the API, as dicts and lists. The server checks the arguments. The package needs httpx, and of
Ostinato only `errors` and `blocking`.
"""

from ostinato.client.blocking import SyncClient
from ostinato.client.calling import Answered, Denied, Json, ServerFailed, Unreachable
from ostinato.client.client import DEFAULT_SERVER, Client

__all__ = ["DEFAULT_SERVER", "Answered", "Client", "Denied", "Json", "ServerFailed", "SyncClient", "Unreachable"]
