"""The client for programs without asyncio."""

from __future__ import annotations

import http.client
import json
import socket
import threading
import time
from typing import Any, Callable, Dict, Iterator, List, Optional, Union, cast
from urllib.parse import quote

from .answers import (
    Call,
    History,
    HistoryMessage,
    HungUp,
    Message,
    Receipts,
    Sent,
    SignedIn,
    Subscription,
)
from .arguments import audio as checked_audio, text, whole_number
from .errors import InvalidAnswer, StreamClosed, Timeout, Unreachable, refusal
from .flows import Flow, Flows, Match, Pause, Request, Response, has_code, query
from .signing import Signer
from .wire import (
    BINARY, BODY_BYTES_MAX, CLOSE, PING, PONG, TEXT, FrameReader, Origin, close_of, encode_frame, head_of, parse_head,
    parsed_json, request_bytes, upgrade_request,
)

_HEAD_BYTES_MAX = 64 * 1024
# The service pings every 25 s.
_SILENCE_SECONDS = 60.0


class SimrackClient:
    """One number of a service. `token` is of an earlier purchase or sign-in. Use it from one thread at a time.

    `domain` is what wallets sign in to, if it is not the host of `base_url`.
    """

    def __init__(self, base_url: str, token: Optional[str] = None, *, domain: Optional[str] = None) -> None:
        self._origin = Origin(base_url)
        self._flows = Flows(token, self._origin.host, domain)

    @property
    def token(self) -> Optional[str]:
        """A secret. Store it: it is not shown again."""
        return self._flows.token

    def availability(self) -> int:
        """How many numbers can be bought now."""
        return int(self._run(self._flows.public("GET", "/availability"))["available"])

    def subscribe(
        self, signer: Signer, *, max_amount: int, asset: Optional[str] = None, resume: Optional[str] = None,
        on_signed: Optional[Callable[[str], None]] = None, settle_timeout: float = 300.0,
    ) -> SignedIn:
        """Pays for a year, up to `max_amount` in millionths of a dollar. A wallet with a number keeps it for another year.

        It pays once: after an unclear answer it sends the same payment again. `on_signed` gets the payment to store;
        after a crash pass it as `resume`. Raises `NotPayable` before it signs, `PaymentRefused` and `PoolExhausted` if
        nothing was charged, `SettlementPending` if that is unknown. Raises `PaymentUsed` if the payment was charged
        before, and the wallet has no subscription: its message says why.
        """
        flow = self._flows.subscribe(signer, max_amount, asset, resume, on_signed, settle_timeout)
        return cast(SignedIn, self._run(flow))

    def recover(self, signer: Signer) -> SignedIn:
        """Gets a new token for a signature, for free. All older tokens are revoked."""
        return cast(SignedIn, self._run(self._flows.recover(signer)))

    def number(self) -> Subscription:
        return cast(Subscription, self._run(self._flows.call("GET", "/number")))

    def send(self, to: str, body: str) -> Sent:
        """Sends a text of one segment. After a lost answer, read `history` before you send it again."""
        return cast(Sent, self._run(self._flows.call("POST", "/sms/send", {"to": text("to", to), "body": text("body", body)}, 120.0)))

    def receive(self, limit: int = 20) -> List[Message]:
        """Claims received texts. Those that a wait passed over come first."""
        return cast(List[Message], self._run(self._flows.receive(limit)))

    def wait_for_message(
        self, timeout: float = 60.0, *, sender: Optional[str] = None, match: Optional[Match] = None
    ) -> Message:
        """The first text that fits. Raises `Timeout`. The others are kept for the next wait, or for `receive`."""
        return cast(Message, self._run(self._flows.wait_for_message(timeout, sender, match)))

    def wait_for_code(self, timeout: float = 60.0, *, sender: Optional[str] = None) -> str:
        """The one-time code of the first text in which the service finds one. The other texts are kept, as by `wait_for_message`.

        For the web site that the code is for, wait with `wait_for_message(match=has_code)` and read `code_origin`.
        """
        return cast(str, self.wait_for_message(timeout, sender=sender, match=has_code)["code"])

    def messages(self, **filters: object) -> History:
        """One page of the history, newest first: `direction`, `since`, `until`, `limit`, `cursor`. Claims nothing."""
        return cast(History, self._run(self._flows.call("GET", query("/sms/messages", **filters))))

    def history(self, **filters: object) -> Iterator[HistoryMessage]:
        """All of the history, page by page."""
        cursor: Optional[str] = None
        while True:
            page = self.messages(**{"limit": 100, **filters, "cursor": cursor})
            yield from page["messages"]
            cursor = page["next_cursor"]
            if cursor is None:
                return

    def delete_message(self, message_id: int) -> None:
        self._run(self._flows.call("DELETE", f"/sms/messages/{whole_number('message_id', message_id)}"))

    def receipts(self, after: int = 0, limit: int = 50, *, signer: Optional[Signer] = None) -> Receipts:
        """One page of the signed receipts of payments, texts and calls, oldest first.

        `signer` takes the place of a token: also after the subscription has ended, for instance with a refund.
        """
        return cast(Receipts, self._run(self._flows.receipts(after, limit, signer)))

    def dial(self, to: str, phone_number: Optional[str] = None) -> Call:
        """Places a call; returns when the far end rings. Open its `stream` within 30 s."""
        own = phone_number or self.number()["number"]
        body = {"phone_number": own, "to": text("to", to)}
        return cast(Call, self._run(self._flows.call("POST", "/voice/dial", body, 120.0)))

    def hang_up(self, call_id: str) -> HungUp:
        return cast(HungUp, self._run(self._flows.call("POST", "/voice/hangup", {"call_id": text("call_id", call_id)})))

    def stream(self, call_id: str) -> "CallStream":
        """The audio of a call, both ways. Opening it answers a ringing call, closing it hangs up."""
        request = upgrade_request(f"/voice/stream/{quote(text('call_id', call_id), safe='')}", self._flows.bearer(), "voice.v1")
        return CallStream(*_open(self._origin, request))

    def presence(self, number: str) -> "CallStream":
        """Events of the number's calls: iterate over it."""
        request = upgrade_request(f"/voice/presence/{quote(text('number', number), safe='')}", self._flows.bearer(), None)
        return CallStream(*_open(self._origin, request))

    def _run(self, flow: Flow) -> Any:
        try:
            step = next(flow)
            while True:
                if isinstance(step, Pause):
                    time.sleep(step.seconds)
                    step = flow.send(cast(Response, None))
                    continue
                try:
                    response = _ask(self._origin, step)
                except (Unreachable, Timeout, InvalidAnswer) as error:
                    step = flow.throw(error)
                else:
                    step = flow.send(response)
        except StopIteration as end:
            return end.value


class CallStream:
    """Iterate over it: bytes are audio of the far end (20 ms, 16 bit little-endian, mono, 16 kHz), dictionaries are events.

    Sending is allowed from another thread. The iteration ends when the call ends; `close_code` says why.
    """

    def __init__(self, connection: socket.socket, received: bytes) -> None:
        self._socket = connection
        self._frames = FrameReader(received)
        self._sending = threading.Lock()
        self.close_code: Optional[int] = None
        self.close_reason = ""

    def __enter__(self) -> "CallStream":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[Union[bytes, Dict[str, Any]]]:
        while self.close_code is None:
            frame = self._frames.next()
            if frame is None:
                self._read()
                continue
            kind, payload = frame
            if kind == PING:
                self._send(PONG, payload)
            elif kind == CLOSE:
                self._ended(*close_of(payload))
            elif kind == BINARY:
                yield payload
            elif kind == TEXT:
                event = parsed_json(payload)
                if isinstance(event, dict):
                    yield event

    def send(self, audio: bytes) -> None:
        """Sends audio of any even length. The service queues 60 s. Raises `StreamClosed`."""
        samples = checked_audio(audio)
        for start in range(0, len(samples), 16_000):
            self._send(BINARY, samples[start:start + 16_000])

    def clear(self) -> None:
        """Drops audio that was not played."""
        self._control({"type": "clear"})

    def mark(self, name: str) -> None:
        """The event `mark` with this name comes when all audio before it was played."""
        self._control({"type": "mark", "name": text("name", name)})

    def press(self, digits: str) -> None:
        self._control({"type": "dtmf", "digits": text("digits", digits)})

    def close(self) -> None:
        """Hangs up."""
        if self.close_code is None:
            try:
                self._send(CLOSE, (1000).to_bytes(2, "big"))
            except StreamClosed:
                pass
            self._ended(1005, "")

    def _control(self, frame: Dict[str, Any]) -> None:
        self._send(TEXT, json.dumps(frame).encode())

    def _send(self, kind: int, payload: bytes) -> None:
        if self.close_code is not None:
            raise StreamClosed(self.close_code, self.close_reason)
        try:
            with self._sending:
                self._socket.sendall(encode_frame(kind, payload))
        except OSError as error:
            self._ended(1006, str(error))
            raise StreamClosed(1006, str(error)) from error

    def _read(self) -> None:
        try:
            received = self._socket.recv(65_536)
        except OSError as error:
            self._ended(1006, str(error))
            return
        if received:
            self._frames.feed(received)
        else:
            self._ended(1006, "the connection broke")

    def _ended(self, code: int, reason: str) -> None:
        if self.close_code is None:
            self.close_code, self.close_reason = code, reason
            self._socket.close()


def _ask(origin: Origin, request: Request) -> Response:
    kind = http.client.HTTPConnection if origin.tls is None else http.client.HTTPSConnection
    options: Dict[str, Any] = {} if origin.tls is None else {"context": origin.tls}
    headers, body = head_of(origin, request)
    connection = kind(origin.host, origin.port, timeout=request.timeout, **options)
    try:
        # Redirects are not followed: a token or a payment must not be sent to another host.
        connection.request(request.method, origin.path + request.path, body, headers)
        answered = connection.getresponse()
        body = answered.read(BODY_BYTES_MAX + 1)
        if len(body) > BODY_BYTES_MAX:
            raise InvalidAnswer("the response is too long")
        named = {name.lower(): value for name, value in answered.getheaders()}
        return Response(answered.status, named, parsed_json(body, named.get("content-type", "")))
    except socket.timeout as error:
        raise Timeout(f"{request.method} {request.path}: no response in time") from error
    except (OSError, http.client.HTTPException) as error:
        raise Unreachable(f"{origin.base_url}: {error}") from error
    finally:
        connection.close()


def _open(origin: Origin, request: Request) -> "tuple[socket.socket, bytes]":
    try:
        connection = socket.create_connection((origin.host, origin.port), request.timeout)
        if origin.tls is not None:
            connection = origin.tls.wrap_socket(connection, server_hostname=origin.host)
    except OSError as error:
        raise Unreachable(f"{origin.base_url}: {error}") from error
    try:
        connection.sendall(request_bytes(origin, request))
        received = b""
        while b"\r\n\r\n" not in received and len(received) < _HEAD_BYTES_MAX:
            part = connection.recv(4096)
            if not part:
                raise Unreachable(f"{origin.base_url}: the connection broke")
            received += part
        head, _, rest = received.partition(b"\r\n\r\n")
        status, headers = parse_head(head)
        if status != 101:
            length = min(int(headers.get("content-length", "0")), _HEAD_BYTES_MAX)
            while len(rest) < length:
                part = connection.recv(4096)
                if not part:
                    break
                rest += part
            raise refusal(status, parsed_json(rest), headers.get("retry-after"))
        connection.settimeout(_SILENCE_SECONDS)
        return connection, rest
    except socket.timeout as error:
        connection.close()
        raise Timeout("the stream did not open in time") from error
    except OSError as error:
        connection.close()
        raise Unreachable(f"{origin.base_url}: {error}") from error
    except BaseException:
        connection.close()
        raise
