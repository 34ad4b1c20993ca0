"""The client for asyncio. A cancelled wait closes its connection, so the service keeps the text that it waited for."""

from __future__ import annotations

import asyncio
import json
from typing import Any, AsyncIterator, Callable, Dict, List, Optional, Tuple, Union, cast
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
    BINARY, BODY_BYTES_MAX, CLOSE, PING, PONG, TEXT, FrameReader, Origin, close_of, encode_frame, parse_head, parsed_json,
    request_bytes, upgrade_request,
)

_SILENCE_SECONDS = 60.0
_Streams = Tuple[asyncio.StreamReader, asyncio.StreamWriter]


class AsyncSimrackClient:
    """The methods of `SimrackClient`, to be awaited."""

    def __init__(self, base_url: str, token: Optional[str] = None, *, domain: Optional[str] = None) -> None:
        self._origin = Origin(base_url)
        self._flows = Flows(token, self._origin.host, domain)

    @property
    def token(self) -> Optional[str]:
        return self._flows.token

    async def availability(self) -> int:
        return int((await self._run(self._flows.public("GET", "/availability")))["available"])

    async def subscribe(
        self, signer: Signer, *, max_amount: int, asset: Optional[str] = None, resume: Optional[str] = None,
        on_signed: Optional[Callable[[str], None]] = None, settle_timeout: float = 300.0,
    ) -> SignedIn:
        flow = self._flows.subscribe(signer, max_amount, asset, resume, on_signed, settle_timeout)
        return cast(SignedIn, await self._run(flow))

    async def recover(self, signer: Signer) -> SignedIn:
        return cast(SignedIn, await self._run(self._flows.recover(signer)))

    async def number(self) -> Subscription:
        return cast(Subscription, await self._run(self._flows.call("GET", "/number")))

    async def send(self, to: str, body: str) -> Sent:
        return cast(Sent, await self._run(self._flows.call("POST", "/sms/send", {"to": text("to", to), "body": text("body", body)}, 120.0)))

    async def receive(self, limit: int = 20) -> List[Message]:
        return cast(List[Message], await self._run(self._flows.receive(limit)))

    async def wait_for_message(
        self, timeout: float = 60.0, *, sender: Optional[str] = None, match: Optional[Match] = None
    ) -> Message:
        return cast(Message, await self._run(self._flows.wait_for_message(timeout, sender, match)))

    async def wait_for_code(self, timeout: float = 60.0, *, sender: Optional[str] = None) -> str:
        return cast(str, (await self.wait_for_message(timeout, sender=sender, match=has_code))["code"])

    async def messages(self, **filters: object) -> History:
        return cast(History, await self._run(self._flows.call("GET", query("/sms/messages", **filters))))

    async def history(self, **filters: object) -> AsyncIterator[HistoryMessage]:
        cursor: Optional[str] = None
        while True:
            page = await self.messages(**{"limit": 100, **filters, "cursor": cursor})
            for message in page["messages"]:
                yield message
            cursor = page["next_cursor"]
            if cursor is None:
                return

    async def delete_message(self, message_id: int) -> None:
        await self._run(self._flows.call("DELETE", f"/sms/messages/{whole_number('message_id', message_id)}"))

    async def receipts(self, after: int = 0, limit: int = 50, *, signer: Optional[Signer] = None) -> Receipts:
        return cast(Receipts, await self._run(self._flows.receipts(after, limit, signer)))

    async def dial(self, to: str, phone_number: Optional[str] = None) -> Call:
        own = phone_number or (await self.number())["number"]
        body = {"phone_number": own, "to": text("to", to)}
        return cast(Call, await self._run(self._flows.call("POST", "/voice/dial", body, 120.0)))

    async def hang_up(self, call_id: str) -> HungUp:
        return cast(HungUp, await self._run(self._flows.call("POST", "/voice/hangup", {"call_id": text("call_id", call_id)})))

    async def stream(self, call_id: str) -> "AsyncCallStream":
        request = upgrade_request(f"/voice/stream/{quote(text('call_id', call_id), safe='')}", self._flows.bearer(), "voice.v1")
        return await _open(self._origin, request)

    async def presence(self, number: str) -> "AsyncCallStream":
        request = upgrade_request(f"/voice/presence/{quote(text('number', number), safe='')}", self._flows.bearer(), None)
        return await _open(self._origin, request)

    async def _run(self, flow: Flow) -> Any:
        try:
            step = next(flow)
            while True:
                if isinstance(step, Pause):
                    await asyncio.sleep(step.seconds)
                    step = flow.send(cast(Response, None))
                    continue
                try:
                    response = await _ask(self._origin, step)
                except (Unreachable, Timeout, InvalidAnswer) as error:
                    step = flow.throw(error)
                else:
                    step = flow.send(response)
        except StopIteration as end:
            return end.value


class AsyncCallStream:
    """Iterate over it with `async for`: bytes are audio, dictionaries are events. See `CallStream`."""

    def __init__(self, streams: _Streams) -> None:
        self._reader, self._writer = streams
        self._frames = FrameReader()
        self.close_code: Optional[int] = None
        self.close_reason = ""

    async def __aenter__(self) -> "AsyncCallStream":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def __aiter__(self) -> AsyncIterator[Union[bytes, Dict[str, Any]]]:
        while self.close_code is None:
            frame = self._frames.next()
            if frame is None:
                await self._read()
                continue
            kind, payload = frame
            if kind == PING:
                await self._send(PONG, payload)
            elif kind == CLOSE:
                self._ended(*close_of(payload))
            elif kind == BINARY:
                yield payload
            elif kind == TEXT:
                event = parsed_json(payload)
                if isinstance(event, dict):
                    yield event

    async def send(self, audio: bytes) -> None:
        samples = checked_audio(audio)
        for start in range(0, len(samples), 16_000):
            await self._send(BINARY, samples[start:start + 16_000])

    async def clear(self) -> None:
        await self._control({"type": "clear"})

    async def mark(self, name: str) -> None:
        await self._control({"type": "mark", "name": text("name", name)})

    async def press(self, digits: str) -> None:
        await self._control({"type": "dtmf", "digits": text("digits", digits)})

    async def close(self) -> None:
        """Hangs up."""
        if self.close_code is None:
            try:
                await self._send(CLOSE, (1000).to_bytes(2, "big"))
            except StreamClosed:
                pass
            self._ended(1005, "")

    async def _control(self, frame: Dict[str, Any]) -> None:
        await self._send(TEXT, json.dumps(frame).encode())

    async def _send(self, kind: int, payload: bytes) -> None:
        if self.close_code is not None:
            raise StreamClosed(self.close_code, self.close_reason)
        try:
            self._writer.write(encode_frame(kind, payload))
            await self._writer.drain()
        except OSError as error:
            self._ended(1006, str(error))
            raise StreamClosed(1006, str(error)) from error

    async def _read(self) -> None:
        try:
            received = await asyncio.wait_for(self._reader.read(65_536), _SILENCE_SECONDS)
        except (OSError, asyncio.TimeoutError) as error:
            self._ended(1006, str(error))
            return
        if received:
            self._frames.feed(received)
        else:
            self._ended(1006, "the connection broke")

    def _ended(self, code: int, reason: str) -> None:
        if self.close_code is None:
            self.close_code, self.close_reason = code, reason
            self._writer.close()


async def _connected(origin: Origin, request: Request) -> _Streams:
    streams = await asyncio.open_connection(origin.host, origin.port, ssl=origin.tls)
    streams[1].write(request_bytes(origin, request))
    return streams


async def _ask(origin: Origin, request: Request) -> Response:
    try:
        return await asyncio.wait_for(_exchange(origin, request), request.timeout)
    except asyncio.TimeoutError as error:
        raise Timeout(f"{request.method} {request.path}: no response in time") from error
    except (OSError, asyncio.IncompleteReadError) as error:
        raise Unreachable(f"{origin.base_url}: {error}") from error
    except (asyncio.LimitOverrunError, ValueError) as error:
        raise InvalidAnswer(f"{origin.base_url}: the response is not HTTP") from error


async def _exchange(origin: Origin, request: Request) -> Response:
    reader, writer = await _connected(origin, request)
    try:
        status, headers = parse_head((await reader.readuntil(b"\r\n\r\n"))[:-4])
        body = b"" if status == 204 else await _body(reader, headers)
        return Response(status, headers, parsed_json(body, headers.get("content-type", "")))
    finally:
        # At once: a canceled wait must not claim a text.
        writer.transport.abort()


async def _body(reader: asyncio.StreamReader, headers: Dict[str, str]) -> bytes:
    if headers.get("transfer-encoding", "").lower() == "chunked":
        body = b""
        while True:
            size = int((await reader.readuntil(b"\r\n")).split(b";")[0], 16)
            if size < 0 or len(body) + size > BODY_BYTES_MAX:
                raise InvalidAnswer("the response is too long")
            body += (await reader.readexactly(size + 2))[:-2]
            if size == 0:
                return body
    length = int(headers.get("content-length", "0"))
    if not 0 <= length <= BODY_BYTES_MAX:
        raise InvalidAnswer("the response is too long")
    return await reader.readexactly(length)


async def _open(origin: Origin, request: Request) -> AsyncCallStream:
    async def opened() -> AsyncCallStream:
        reader, writer = await _connected(origin, request)
        try:
            status, headers = parse_head((await reader.readuntil(b"\r\n\r\n"))[:-4])
            if status == 101:
                return AsyncCallStream((reader, writer))
            raise refusal(status, parsed_json(await _body(reader, headers)), headers.get("retry-after"))
        except BaseException:
            writer.transport.abort()
            raise

    try:
        return await asyncio.wait_for(opened(), request.timeout)
    except asyncio.TimeoutError as error:
        raise Timeout("the stream did not open in time") from error
    except (OSError, asyncio.IncompleteReadError) as error:
        raise Unreachable(f"{origin.base_url}: {error}") from error
