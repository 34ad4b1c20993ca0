"""Client of a Simrack service: buy a US mobile number, text and call. Needs nothing but Python 3.9."""

from .aio import AsyncCallStream, AsyncSimrackClient
from .client import CallStream, SimrackClient
from .errors import (
    ApiError,
    InvalidAnswer,
    InvalidRequest,
    NotPayable,
    PaymentRefused,
    PaymentUsed,
    PoolExhausted,
    RateLimited,
    SettlementPending,
    SimrackError,
    StreamClosed,
    Timeout,
    Unauthorized,
    Unreachable,
)
from .flows import has_code
from .signing import KeySigner, Signer

__version__ = "0.1.0"
__all__ = [
    "ApiError", "AsyncCallStream", "AsyncSimrackClient", "CallStream", "InvalidAnswer", "InvalidRequest", "KeySigner",
    "NotPayable", "PaymentRefused", "PaymentUsed", "PoolExhausted", "RateLimited", "SettlementPending", "Signer",
    "SimrackClient", "SimrackError", "StreamClosed", "Timeout", "Unauthorized", "Unreachable", "has_code",
]
