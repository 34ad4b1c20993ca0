"""One exception for each thing that a program may want to treat differently."""

from __future__ import annotations

from typing import Any, Mapping, Optional


class SimrackError(Exception):
    """Any failure. `code` is stable: those of the API, and `unreachable`, `timeout`, `invalid_answer`, `not_payable`."""

    def __init__(self, message: str, *, code: str) -> None:
        super().__init__(message)
        self.code = code


class NotPayable(SimrackError):
    """The service asks for more than `max_amount`, or for a payment that this client cannot make. Nothing was signed."""

    def __init__(self, message: str) -> None:
        super().__init__(message, code="not_payable")


class Unreachable(SimrackError):
    """No connection. It is unknown whether the service did what it was asked to."""

    def __init__(self, message: str) -> None:
        super().__init__(message, code="unreachable")


class Timeout(SimrackError):
    """No response, or no text, in time."""

    def __init__(self, message: str) -> None:
        super().__init__(message, code="timeout")


class InvalidAnswer(SimrackError):
    """The response is not one of this API. A proxy may have sent it: `status` is its status, if there is one."""

    def __init__(self, message: str, status: Optional[int] = None) -> None:
        super().__init__(message, code="invalid_answer")
        self.status = status


class StreamClosed(SimrackError):
    """The stream of a call has ended. `close_code` as in the service's list of close codes."""

    def __init__(self, close_code: int, reason: str) -> None:
        super().__init__(f"the stream was closed with {close_code} {reason}".strip(), code="stream_closed")
        self.close_code = close_code
        self.reason = reason


class ApiError(SimrackError):
    """A refusal of the service."""

    def __init__(self, status: int, body: Mapping[str, Any], retry_after: Optional[int] = None) -> None:
        code = str(body.get("error", "http_error"))
        super().__init__(str(body.get("message", code)), code=code)
        self.status = status
        #: The whole response: `reason`, `call_id`, `request_id` and more.
        self.details = dict(body)
        #: Seconds to wait, if the service states them.
        self.retry_after = retry_after
        field = body.get("field")
        #: The field of the request that is wrong.
        self.field: Optional[str] = field if isinstance(field, str) else None


class InvalidRequest(ApiError):
    """400: `field` names what is wrong."""


class Unauthorized(ApiError):
    """401: the token is wrong or was revoked, or the signature does not fit."""


class PaymentRefused(ApiError):
    """402: nothing was charged. Of `recover`, `no_active_subscription`: there is nothing to sign in to."""


class PaymentUsed(ApiError):
    """409: this payment was charged before, and bought nothing that lasts. Read the message before you pay again."""


class RateLimited(ApiError):
    """429: wait for `retry_after` seconds."""


class PoolExhausted(ApiError):
    """503: no number is available. Nothing was charged."""


class SettlementPending(ApiError):
    """503: a payment is in progress. Do not pay again: sign in later, or pass `payment` to `subscribe` as `resume`."""

    #: The `X-PAYMENT` header whose outcome is unknown.
    payment: Optional[str] = None


_BY_CODE = {
    "payment_already_used": PaymentUsed, "pool_exhausted": PoolExhausted, "settlement_pending": SettlementPending,
}
_BY_STATUS = {400: InvalidRequest, 401: Unauthorized, 402: PaymentRefused, 429: RateLimited}


def refusal(status: int, body: object, retry_after: Optional[str]) -> SimrackError:
    """The error of a response that is not the promised one."""
    if not isinstance(body, dict) or not isinstance(body.get("error"), str):
        return InvalidAnswer(f"unexpected response with status {status}: it does not come from this API", status)
    kind = _BY_CODE.get(body["error"]) or _BY_STATUS.get(status, ApiError)
    seconds = int(retry_after) if retry_after and retry_after.isascii() and retry_after.isdigit() else None
    return kind(status, body, seconds)
