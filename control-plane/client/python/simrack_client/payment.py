"""The payment for a 402: x402 version 1, an EIP-3009 authorization for exactly the price."""

from __future__ import annotations

import base64
import json
import re
import secrets
import time
from typing import Any, Dict, Optional

from .errors import NotPayable
from .signing import TRANSFER_TYPES, Signer

# Chain and the dollar of Circle there, by the name of x402 version 1.
NETWORKS = {
    "base": (8453, "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"),
    "base-sepolia": (84532, "0x036cbd53842c5426634e7929541ec2318f3dcf7e"),
}

# Clocks differ: the authorization is valid from a little before now.
_BACKDATE_SECONDS = 600
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}")
_AMOUNT = re.compile(r"[0-9]{1,30}")


def sign_payment(challenge: object, signer: Signer, max_amount: int, asset: Optional[str]) -> str:
    """The `X-PAYMENT` header. `asset`: a token other than USDC that may be paid. Raises `NotPayable` before it signs."""
    offers = challenge.get("accepts") if isinstance(challenge, dict) else None
    fitting = [offer for offer in offers or [] if _is_payable(offer, asset)]
    if not fitting:
        raise NotPayable("the service offers no payment that this client can make")
    offer = fitting[0]
    if int(offer["amount"]) > max_amount:
        price, limit = _shown(int(offer["amount"]), offer), _shown(max_amount, offer)
        raise NotPayable(f"the service asks for {price}, more than the maximum of {limit}")
    now = int(time.time())
    terms = {
        "from": signer.address,
        "to": offer["payTo"],
        "value": offer["amount"],
        "validAfter": str(now - _BACKDATE_SECONDS),
        "validBefore": str(now + offer["maxTimeoutSeconds"]),
        "nonce": "0x" + secrets.token_hex(32),
    }
    numbers = {name: int(terms[name]) for name in ("value", "validAfter", "validBefore")}
    signature = signer.sign_typed_data({
        "types": TRANSFER_TYPES,
        "primaryType": "TransferWithAuthorization",
        "domain": {
            "name": offer["extra"]["name"],
            "version": offer["extra"]["version"],
            "chainId": NETWORKS[offer["network"]][0],
            "verifyingContract": offer["asset"],
        },
        "message": {**terms, **numbers},
    })
    payload = {"signature": signature, "authorization": terms}
    header = {"x402Version": 1, "scheme": "exact", "network": offer["network"], "payload": payload}
    return base64.b64encode(json.dumps(header).encode()).decode()


def _shown(amount: int, offer: Dict[str, Any]) -> str:
    """Dollars of USDC: 1,800 or 0.5. Other tokens have other units, so their amounts are in the smallest ones."""
    if offer["asset"].lower() != NETWORKS[offer["network"]][1]:
        return f"{amount} units of {offer['asset']}"
    fraction = f"{amount % 1_000_000:06}".rstrip("0")
    return f"{amount // 1_000_000:,}{'.' if fraction else ''}{fraction} USDC"


def _is_payable(offer: Any, asset: Optional[str]) -> bool:
    """Everything in an offer is the word of a stranger."""
    if not isinstance(offer, dict) or offer.get("scheme") != "exact" or offer.get("network") not in NETWORKS:
        return False
    texts: Dict[str, Any] = {name: offer.get(name) for name in ("asset", "payTo", "amount")}
    extra, seconds = offer.get("extra"), offer.get("maxTimeoutSeconds")
    if not all(isinstance(value, str) for value in texts.values()) or not isinstance(extra, dict):
        return False
    if not isinstance(extra.get("name"), str) or not isinstance(extra.get("version"), str):
        return False
    if not isinstance(seconds, int) or isinstance(seconds, bool) or not 0 < seconds <= 86_400:
        return False
    if not _ADDRESS.fullmatch(texts["asset"]) or not _ADDRESS.fullmatch(texts["payTo"]):
        return False
    allowed = {NETWORKS[offer["network"]][1], (asset or "").lower()}
    return bool(_AMOUNT.fullmatch(texts["amount"])) and texts["asset"].lower() in allowed
