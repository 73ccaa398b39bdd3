"""HTTP/1.1 as uvicorn speaks it through httptools, a parser in C: reading a request in Python takes as long as
answering it. What that parser lacks is an end to how much of a request it keeps before the body begins."""

from __future__ import annotations

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

LARGEST_HEAD = 64 << 10  # bytes of the first line and the headers


class Protocol(HttpToolsProtocol):
    _in_head = True
    _turned = False  # a head, or a whole request, ended in what came last
    _length = 0

    def data_received(self, data: bytes) -> None:
        self._turned = False
        super().data_received(data)
        if self._in_head and not self._turned:
            self._length += len(data)
            if self._length > LARGEST_HEAD and not self.transport.is_closing():
                self.send_400_response(f"The first line and the headers have at most {LARGEST_HEAD:,} bytes.")

    def on_headers_complete(self) -> None:
        self._in_head, self._turned = False, True
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._in_head, self._turned, self._length = True, True, 0
        super().on_message_complete()
