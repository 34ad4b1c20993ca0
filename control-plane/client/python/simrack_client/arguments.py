"""Checks the arguments of both clients. A wrong one is a `TypeError` that names it, and not its value, which may be a secret."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Optional, cast


def text(name: str, value: object) -> str:
    return value if isinstance(value, str) else _wrong(name, "a string", value)


def optional_text(name: str, value: object) -> Optional[str]:
    return None if value is None else text(name, value)


def whole_number(name: str, value: object, example: str = "20") -> int:
    is_one = isinstance(value, int) and not isinstance(value, bool)
    return cast(int, value) if is_one else _wrong(name, f"an int, such as {example}", value)


def seconds(name: str, value: object) -> float:
    is_one = isinstance(value, (int, float)) and not isinstance(value, bool)
    return cast(float, value) if is_one else _wrong(name, "a number of seconds", value)


def optional_function(name: str, value: object) -> Any:
    return value if value is None or callable(value) else _wrong(name, "a function", value)


def signer(value: Any) -> Any:
    """A wallet that signs texts. Typed data, which a payment needs, is signed by the same."""
    if isinstance(getattr(value, "address", None), str) and callable(getattr(value, "sign_message", None)):
        return value
    return _wrong("signer", "a signer, such as KeySigner(private_key)", value)


def audio(value: object) -> bytes:
    if isinstance(value, (bytes, bytearray, memoryview)):
        samples = bytes(value)
        if len(samples) % 2 == 0:
            return samples
    return _wrong("audio", "bytes of an even length: 16 bit samples", value)


def filter_value(name: str, value: object) -> object:
    """A time as the service reads it."""
    if not isinstance(value, datetime):
        return value
    return value.isoformat() if value.tzinfo is not None else _wrong(name, "a time with a zone", value)


def _wrong(name: str, words: str, value: object) -> Any:
    raise TypeError(f"{name} must be {words}, not {type(value).__name__}")
