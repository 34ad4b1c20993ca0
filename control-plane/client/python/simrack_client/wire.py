"""HTTP/1.1 requests and the start of a WebSocket (RFC 6455) as bytes, for both clients."""

from __future__ import annotations

import base64
import json
import os
import ssl
import struct
from typing import Any, Dict, List, Optional, Tuple
from urllib.parse import urlsplit

from . import arguments
from .errors import InvalidAnswer
from .flows import Request

#: The longest response that is read.
BODY_BYTES_MAX = 16 * 1024 * 1024
FRAME_BYTES_MAX = 4 * 1024 * 1024

TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10


class Origin:
    """The service. Raises `ValueError` for a URL that is not of HTTP."""

    def __init__(self, base_url: str) -> None:
        parts = urlsplit(arguments.text("base_url", base_url).rstrip("/"))
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"not an HTTP URL, such as https://host: {base_url}")
        self.base_url = base_url.rstrip("/")
        self.host = parts.hostname
        self.port = parts.port or (443 if parts.scheme == "https" else 80)
        self.authority = parts.netloc.rpartition("@")[2]
        self.path = parts.path
        self.tls: Optional[ssl.SSLContext] = ssl.create_default_context() if parts.scheme == "https" else None


def head_of(origin: Origin, request: Request) -> Tuple[Dict[str, str], Optional[bytes]]:
    """The headers and the body of a request. Raises `ValueError` for a header that would become two."""
    headers = {"Accept": "application/json", "Connection": "close", "Host": origin.authority, **request.headers}
    body = None
    if request.body is not None:
        body = json.dumps(request.body).encode()
        headers["Content-Type"] = "application/json"
    if request.method != "GET":
        headers["Content-Length"] = str(len(body or b""))
    for value in (request.path, *headers.values()):
        if any(ord(character) < 32 or ord(character) > 126 for character in value):
            raise ValueError("a header or path has a character that is not printable ASCII")
    return headers, body


def request_bytes(origin: Origin, request: Request) -> bytes:
    headers, body = head_of(origin, request)
    lines = [f"{request.method} {origin.path}{request.path} HTTP/1.1", *(f"{n}: {v}" for n, v in headers.items())]
    return "\r\n".join([*lines, "", ""]).encode() + (body or b"")


def upgrade_request(path: str, bearer: Dict[str, str], protocol: Optional[str]) -> Request:
    key = base64.b64encode(os.urandom(16)).decode()
    headers = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Key": key, "Sec-WebSocket-Version": "13"}
    if protocol is not None:
        headers["Sec-WebSocket-Protocol"] = protocol
    return Request("GET", path, None, {**headers, **bearer}, 20.0)


def parse_head(head: bytes) -> Tuple[int, Dict[str, str]]:
    """Status and headers, by name in lower case."""
    try:
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = {}
        for line in filter(None, lines):
            name, _, value = line.partition(":")
            headers[name.strip().lower()] = value.strip()
        return int(first.split(" ", 2)[1]), headers
    except (IndexError, ValueError) as error:
        raise InvalidAnswer("the response is not HTTP") from error


def parsed_json(body: bytes, content_type: str = "") -> Any:
    """None for what is not JSON. Of a stream of events (MCP), the last one that has data."""
    if content_type.startswith("text/event-stream"):
        lines = [line[5:] for line in body.splitlines() if line.startswith(b"data:") and line[5:].strip()]
        body = lines[-1] if lines else b""
    try:
        return json.loads(body)
    except ValueError:
        return None


def encode_frame(kind: int, payload: bytes) -> bytes:
    """A frame of a client: masked."""
    length = len(payload)
    head = bytes([0x80 | kind])
    if length < 126:
        head += bytes([0x80 | length])
    elif length < 65_536:
        head += bytes([0x80 | 126]) + struct.pack("!H", length)
    else:
        head += bytes([0x80 | 127]) + struct.pack("!Q", length)
    mask = os.urandom(4)
    # One operation on all bytes: a loop over them would cost more than the audio lasts.
    repeated = (mask * (length // 4 + 1))[:length]
    masked = int.from_bytes(payload, "big") ^ int.from_bytes(repeated, "big")
    return head + mask + masked.to_bytes(length, "big")


class FrameReader:
    """Bytes of a service in, whole messages out: (kind, payload)."""

    def __init__(self, received: bytes = b"") -> None:
        self._bytes = bytearray(received)
        self._kind = 0
        self._parts: List[bytes] = []

    def feed(self, received: bytes) -> None:
        self._bytes += received

    def next(self) -> Optional[Tuple[int, bytes]]:
        """None until more bytes arrive. Raises `InvalidAnswer`."""
        while True:
            frame = self._frame()
            if frame is None:
                return None
            is_last, kind, payload = frame
            if kind >= CLOSE:
                return kind, payload
            self._kind = kind or self._kind
            self._parts.append(payload)
            if sum(map(len, self._parts)) > FRAME_BYTES_MAX:
                raise InvalidAnswer("the service sent a message that is too long")
            if is_last:
                whole = b"".join(self._parts)
                self._parts = []
                return self._kind, whole

    def _frame(self) -> Optional[Tuple[bool, int, bytes]]:
        data = self._bytes
        if len(data) < 2:
            return None
        length, start = data[1] & 0x7F, 2
        if data[1] & 0x80 or data[0] & 0x70:
            raise InvalidAnswer("the service sent a frame that is masked or has an extension")
        if length >= 126:
            start = 4 if length == 126 else 10
            if len(data) < start:
                return None
            length = int.from_bytes(data[2:start], "big")
        if length > FRAME_BYTES_MAX:
            raise InvalidAnswer("the service sent a frame that is too long")
        if len(data) < start + length:
            return None
        payload = bytes(data[start:start + length])
        kind, is_last = data[0] & 0x0F, bool(data[0] & 0x80)
        del data[:start + length]
        return is_last, kind, payload


def close_of(payload: bytes) -> Tuple[int, str]:
    if len(payload) < 2:
        return 1005, ""
    return int.from_bytes(payload[:2], "big"), payload[2:].decode("utf-8", "replace")
