"""The work of the client, without a connection: each flow is a generator that yields requests and is sent their responses."""

from __future__ import annotations

import re
import time
from collections import deque
from dataclasses import dataclass, field
from typing import Any, Callable, Deque, Dict, Generator, List, Optional, Union
from urllib.parse import urlencode

from . import arguments
from .errors import ApiError, InvalidAnswer, SettlementPending, SimrackError, Timeout, Unreachable, refusal
from .payment import sign_payment
from .signing import Signer


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    body: Optional[Dict[str, Any]] = None
    headers: Dict[str, str] = field(default_factory=dict)
    timeout: float = 30.0


@dataclass(frozen=True)
class Pause:
    seconds: float


@dataclass(frozen=True)
class Response:
    status: int
    #: By name in lower case.
    headers: Dict[str, str]
    #: None if the body is not JSON.
    json: Any


Flow = Generator[Union[Request, Pause], Response, Any]
Match = Callable[[Dict[str, Any]], bool]

_SLOW_SECONDS = 120.0
_SETTLE_SECONDS = 300.0
_ASK_AGAIN_SECONDS = 2.0
_TOOL_WAIT_SECONDS = 50
# After these codes with these statuses a payment has moved nothing. Others may come after it was sent to the chain, or from a proxy.
_MOVED_NOTHING = {
    **dict.fromkeys((
        "invalid_encoding", "unsupported_version", "unsupported_method", "unsupported_scheme", "unsupported_network",
        "unsupported_asset", "invalid_challenge", "invalid_domain", "invalid_payee", "invalid_amount",
        "invalid_signature", "authorization_not_yet_valid", "authorization_expired", "authorization_too_long",
        "authorization_used", "insufficient_funds", "payer_blocked", "asset_paused", "transfer_refused",
        "transfer_too_costly", "foreign_account",
    ), 402),
    "payment_identifier_reused": 409, "paid_ahead": 409, "rate_limited": 429, "overloaded": 503,
    "pool_exhausted": 503, "restarting": 503, "settlement_unavailable": 503,
}
_TRANSIENT = ("rate_limited", "settlement_unavailable", "overloaded", "restarting", "unavailable", "internal_error")
# This machine: a tunnel may start here.
_LOOPBACK = re.compile(r"localhost|127(?:\.\d+){3}|::1")
_MCP = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-11-25"}


class Flows:
    """One subscription: its token, and the texts that were claimed and not returned yet."""

    def __init__(self, token: Optional[str], host: str, domain: Optional[str]) -> None:
        self.token = arguments.optional_text("token", token)
        self._host = host
        self._domain = arguments.optional_text("domain", domain)
        self._held: Deque[Dict[str, Any]] = deque()

    def bearer(self) -> Dict[str, str]:
        if self.token is None:
            raise ApiError(401, {"error": "unauthorized", "message": "no token: subscribe, recover, or pass one"})
        return {"Authorization": f"Bearer {self.token}"}

    def call(self, method: str, path: str, body: Optional[Dict[str, Any]] = None, timeout: float = 30.0) -> Flow:
        return answer((yield Request(method, path, body, self.bearer(), timeout)))

    def public(self, method: str, path: str, body: Optional[Dict[str, Any]] = None) -> Flow:
        return answer((yield Request(method, path, body)))

    def recover(self, signer: Signer) -> Flow:
        proof = yield from self._proof(signer)
        signed_in = yield from self.public("POST", "/auth", proof)
        self.token = signed_in["token"]
        return signed_in

    def receipts(self, after: int, limit: int, signer: Optional[Signer]) -> Flow:
        if signer is None:
            return (yield from self.call("GET", query("/receipts", after=after, limit=limit)))
        proof = yield from self._proof(signer)
        return (yield from self.public("POST", "/receipts", {**proof, "after": after, "limit": limit}))

    def _proof(self, signer: Signer) -> Flow:
        arguments.signer(signer)
        issued = yield from self.public("POST", "/auth/nonce", {"address": signer.address})
        signature = signer.sign_message(self._sign_in_text(issued))
        return {"wallet": signer.address, "nonce": issued["nonce"], "signature": signature}

    def _sign_in_text(self, issued: Dict[str, Any]) -> str:
        """Another service could relay this one's text and use the signature here."""
        nonce, text = issued["nonce"], issued["message"]
        found = re.fullmatch(r"Sign in to (\S+) SMS\nNonce: ([\w-]+)", text)
        if found is None or found[2] != nonce:
            raise InvalidAnswer("the service asks the wallet to sign something else than a sign-in")
        is_same = found[1].lower() == (self._domain or self._host).lower()
        if is_same or (self._domain is None and _LOOPBACK.fullmatch(self._host)):
            return str(text)
        raise InvalidAnswer(
            f"{self._host} asks the wallet to sign in to {found[1]}, which is not its host. "
            "If it is the same service, name that domain as `domain`."
        )

    def subscribe(
        self, signer: Signer, max_amount: int, asset: Optional[str], resume: Optional[str],
        on_signed: Optional[Callable[[str], None]], settle_timeout: float,
    ) -> Flow:
        arguments.signer(signer)
        arguments.whole_number("max_amount", max_amount, "1_800_000_000")
        arguments.optional_function("on_signed", on_signed)
        arguments.seconds("settle_timeout", settle_timeout)
        arguments.optional_text("asset", asset)
        payment = arguments.optional_text("resume", resume)
        if payment is None:
            challenge = yield Request("POST", "/subscribe")
            if challenge.status != 402:
                raise refusal(challenge.status, challenge.json, challenge.headers.get("retry-after"))
            payment = sign_payment(challenge.json, signer, max_amount, asset)
            if on_signed is not None:
                on_signed(payment)
        deadline = time.monotonic() + settle_timeout
        was_unclear = resume is not None
        while True:
            try:
                paid = {"X-PAYMENT": payment}
                bought = answer((yield Request("POST", "/subscribe", None, paid, _SLOW_SECONDS)))
                self.token = bought["token"]
                return {**bought, "recovered": False}
            except SimrackError as error:
                failure = error
            if failure.code == "payment_already_used":
                try:
                    return {**(yield from self.recover(signer)), "recovered": True}
                except SimrackError as error:
                    # No refusal of a sign-in is one of the payment: its money moved. After a 402, the 409 says what became of it.
                    if error.code == "no_active_subscription":
                        raise failure from error
                    failure = error
                    was_unclear = True
            # After one unclear attempt, a refusal because of time or load proves nothing about that attempt.
            if not _is_unclear(failure) and not (was_unclear and failure.code in _TRANSIENT):
                raise failure
            was_unclear = True
            wait = getattr(failure, "retry_after", None) or _ASK_AGAIN_SECONDS
            if time.monotonic() + wait >= deadline:
                raise _still_pending(failure, payment) from failure
            yield Pause(wait)

    def receive(self, limit: int) -> Flow:
        arguments.whole_number("limit", limit)
        received = yield from self.call("GET", f"/sms/receive?limit={limit}")
        return self.take_held() + received["messages"]

    def take_held(self) -> List[Dict[str, Any]]:
        held = list(self._held)
        self._held.clear()
        return held

    def wait_for_message(self, timeout: float, sender: Optional[str], match: Optional[Match]) -> Flow:
        """Texts that do not fit are held: each text can be claimed only once."""
        deadline = time.monotonic() + arguments.seconds("timeout", timeout)
        arguments.optional_text("sender", sender)
        arguments.optional_function("match", match)
        while True:
            for message in list(self._held):
                if (sender is None or message["from_number"] == sender) and (match is None or match(message)):
                    self._held.remove(message)
                    return message
            left = deadline - time.monotonic()
            if left <= 0:
                raise Timeout(f"no such text within {timeout:g} s")
            try:
                self._held.extend((yield from self._claim(min(_TOOL_WAIT_SECONDS, int(left)))))
            except SimrackError as error:
                if not _is_transient(error):
                    raise
                wait = getattr(error, "retry_after", None) or 1.0
                if time.monotonic() + wait > deadline:
                    raise Timeout(f"no such text within {timeout:g} s") from error
                yield Pause(wait)

    def _claim(self, wait_seconds: int) -> Flow:
        """The tool `receive_sms`: it answers as soon as a text arrives."""
        call = {"name": "receive_sms", "arguments": {"wait_seconds": wait_seconds, "limit": 100}}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
        headers = {**_MCP, **self.bearer()}
        response = yield Request("POST", "/mcp", body, headers, wait_seconds + 30.0)
        result = response.json.get("result") if isinstance(response.json, dict) else None
        if not isinstance(result, dict):
            raise _tool_refusal(response)
        content = result.get("structuredContent")
        if result.get("isError"):
            seconds = content.get("retry_after") if isinstance(content, dict) else None
            raise refusal(429 if seconds else 500, content, str(seconds) if seconds else None)
        messages = content.get("messages") if isinstance(content, dict) else None
        if not isinstance(messages, list):
            raise InvalidAnswer("receive_sms returned no list of messages")
        return messages


def has_code(message: Dict[str, Any]) -> bool:
    """Whether the service found a one-time code in the text, for `match`. It finds none where it is not certain."""
    return message.get("code") is not None


def query(path: str, **values: object) -> str:
    given = {name: arguments.filter_value(name, value) for name, value in values.items() if value is not None}
    return f"{path}?{urlencode(given)}" if given else path


def answer(response: Response) -> Any:
    if response.status == 204:
        return None
    if response.status == 200 and isinstance(response.json, dict):
        return response.json
    raise refusal(response.status, response.json, response.headers.get("retry-after"))


def _tool_refusal(response: Response) -> SimrackError:
    error = response.json.get("error") if isinstance(response.json, dict) else None
    body = error.get("data", response.json) if isinstance(error, dict) else response.json
    return refusal(response.status, body, response.headers.get("retry-after"))


def _is_transient(error: SimrackError) -> bool:
    """A 502, 503 or 504 may also be the page of a proxy before a service that restarts."""
    status = getattr(error, "status", None) or 0
    return isinstance(error, (Unreachable, Timeout)) or error.code in _TRANSIENT or status >= 502


def _is_unclear(error: SimrackError) -> bool:
    """Proxies that want money themselves send some of the codes, but no `message`."""
    if not isinstance(error, ApiError):
        return isinstance(error, (Unreachable, Timeout, InvalidAnswer))
    return _MOVED_NOTHING.get(error.code) != error.status or "message" not in error.details


def _still_pending(error: SimrackError, payment: str) -> SettlementPending:
    message = "It is not known whether the payment has arrived. Do not pay again. Resume it, or sign in later."
    pending = SettlementPending(503, {"error": "settlement_pending", "message": message})
    pending.retry_after = getattr(error, "retry_after", None)
    pending.payment = payment
    return pending


__all__ = ["Flow", "Flows", "Match", "Pause", "Request", "Response", "answer", "has_code", "query"]
