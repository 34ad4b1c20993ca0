"""The responses of the API, for type checkers. At run time they are dictionaries, field by field as the service sends them."""

from __future__ import annotations

from typing import List, Optional, TypedDict


class SignedIn(TypedDict):
    token: str
    number: str
    expires_at: str


class Subscription(TypedDict):
    number: str
    sub_account_id: str
    plan: str
    expires_at: str


class Sent(TypedDict):
    message_id: str
    status: str


class Mms(TypedDict):
    size_bytes: Optional[int]
    expires_at: Optional[str]


class Message(TypedDict):
    id: int
    from_number: str
    to_number: str
    body: str
    message_id: Optional[str]
    created_at: str
    received_at: Optional[str]
    opt_out_type: Optional[str]
    kind: str
    mms: Optional[Mms]
    code: Optional[str]
    code_origin: Optional[str]
    code_embedded_origin: Optional[str]


class HistoryMessage(TypedDict):
    id: int
    direction: str
    from_number: str
    to_number: str
    body: str
    message_id: Optional[str]
    status: Optional[str]
    created_at: str
    delivered_at: Optional[str]
    opt_out_type: Optional[str]
    kind: str
    mms: Optional[Mms]
    code: Optional[str]
    code_origin: Optional[str]
    code_embedded_origin: Optional[str]


class History(TypedDict):
    messages: List[HistoryMessage]
    next_cursor: Optional[str]


class Receipt(TypedDict):
    sequence: int
    jws: str
    salt: Optional[str]


class Receipts(TypedDict):
    receipts: List[Receipt]
    has_more: bool


class Call(TypedDict):
    call_id: str
    stream_url: str
    direction: str
    caller: str
    phone_number: str


class HungUp(TypedDict):
    call_id: str
    device_id: str
    status: str
