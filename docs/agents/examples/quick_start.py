# Buys a number, sends a text, waits for the answer, and places a call.
# Needs only Debian's packages: apt install python3 python3-ecdsa python3-pycryptodome
import base64
import json
import os
import secrets
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

import ecdsa
from Cryptodome.Hash import keccak

if missing := [name for name in ("SIMRACK_URL", "WALLET_KEY", "TO") if not os.environ.get(name)]:
    sys.exit(f"Set {' and '.join(missing)}.")
URL = os.environ["SIMRACK_URL"].rstrip("/")
KEY = int(os.environ["WALLET_KEY"], 16)
TO = os.environ["TO"]
MAX_AMOUNT = 1_800_000_000  # 1,800 USDC has 6 decimals. Never pay more than this.
CHAINS = {"base": 8453, "base-sepolia": 84532}


def request(method, path, body=None, headers=None):
    """Returns the status and the parsed answer."""
    data = None if body is None else json.dumps(body).encode()
    sent = urllib.request.Request(URL + path, data, headers or {}, method=method)
    if data is not None:
        sent.add_header("Content-Type", "application/json")
    try:
        with urllib.request.urlopen(sent, timeout=90) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as refusal:
        return refusal.code, json.load(refusal)


def hash256(data):
    return keccak.new(digest_bits=256, data=data).digest()


def word(value):
    """One 32-byte word of Solidity's ABI, of a number or a 0x-prefixed value."""
    return int(str(value), 0).to_bytes(32, "big")


def sign(digest):
    """A recoverable signature of 65 bytes, with the low s that Ethereum asks for."""
    key = ecdsa.SigningKey.from_secret_exponent(KEY, ecdsa.SECP256k1)
    order = ecdsa.SECP256k1.order
    r, s = key.sign_digest_deterministic(digest, sigencode=lambda r, s, _: (r, s))
    s = min(s, order - s)
    rs = r.to_bytes(32, "big") + s.to_bytes(32, "big")
    candidates = ecdsa.VerifyingKey.from_public_key_recovery_with_digest(rs, digest, ecdsa.SECP256k1)
    parity = candidates.index(key.verifying_key)
    return "0x" + (rs + bytes([27 + parity])).hex()


def wallet():
    key = ecdsa.SigningKey.from_secret_exponent(KEY, ecdsa.SECP256k1)
    return "0x" + hash256(key.verifying_key.to_string())[-20:].hex()


def payment(offer):
    """Signs what an offer of the 402 asks for (EIP-3009), as the header X-PAYMENT of x402 v1."""
    amount = int(offer.get("maxAmountRequired") or offer["amount"])
    if amount > MAX_AMOUNT:
        sys.exit(f"The service asks for {amount}, which is more than {MAX_AMOUNT}.")
    terms = {
        "from": wallet(),
        "to": offer["payTo"],
        "value": str(amount),
        "validAfter": "0",
        "validBefore": str(int(time.time()) + offer["maxTimeoutSeconds"]),
        "nonce": "0x" + secrets.token_hex(32),
    }
    domain_type = b"EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"
    terms_type = (
        b"TransferWithAuthorization(address from,address to,uint256 value,"
        b"uint256 validAfter,uint256 validBefore,bytes32 nonce)"
    )
    domain = hash256(
        hash256(domain_type)
        + hash256(offer["extra"]["name"].encode())
        + hash256(offer["extra"]["version"].encode())
        + word(CHAINS[offer["network"]])
        + word(offer["asset"])
    )
    message = hash256(hash256(terms_type) + b"".join(word(value) for value in terms.values()))
    signature = sign(hash256(b"\x19\x01" + domain + message))
    credential = {
        "x402Version": 1,
        "scheme": offer["scheme"],
        "network": offer["network"],
        "payload": {"signature": signature, "authorization": terms},
    }
    return base64.b64encode(json.dumps(credential).encode()).decode()


def sign_in():
    """A new token for the wallet that has paid (EIP-191). Older tokens of the wallet end."""
    _, asked = request("POST", "/auth/nonce")
    text = f"Sign in to {urllib.parse.urlsplit(URL).hostname} SMS\nNonce: {asked['nonce']}".encode()
    signature = sign(hash256(b"\x19Ethereum Signed Message:\n" + str(len(text)).encode() + text))
    return request("POST", "/auth", {"wallet": wallet(), "nonce": asked["nonce"], "signature": signature})


# 1. Subscribe: the first answer is 402 with the price, the second one has the token.
status, challenge = request("POST", "/subscribe")
if status != 402:
    sys.exit(f"{status} {challenge}")
paid = {"X-PAYMENT": payment(challenge["accepts"][0])}
status, bought = request("POST", "/subscribe", headers=paid)
while status == 503 and bought["error"] == "unavailable":
    time.sleep(5)  # The same payment again, never another one: it is charged once.
    status, bought = request("POST", "/subscribe", headers=paid)
while status != 200 and bought["error"] in ("settlement_pending", "payment_already_used"):
    time.sleep(5)  # The money moves or has moved: do not pay again, but ask for the token.
    status, bought = sign_in()
if status != 200:
    sys.exit(f"{status} {bought}")
print("number", bought["number"])
bearer = {"Authorization": "Bearer " + bought["token"]}

# 2. Send a text.
status, sent = request("POST", "/sms/send", {"to": TO, "body": "Hello from Python"}, bearer)
print("sent", status, sent["status"])

# 3. Wait for a text. Each one is returned once.
received = {"count": 0}
while received["count"] == 0:
    time.sleep(1)
    status, received = request("GET", "/sms/receive", headers=bearer)
print("received", received["messages"][0]["body"])

# 4. Place a call, and hang up.
status, call = request("POST", "/voice/dial", {"phone_number": bought["number"], "to": TO}, bearer)
print("call", status, call["direction"])
status, ended = request("POST", "/voice/hangup", {"call_id": call["call_id"]}, bearer)
print("hangup", status, ended["status"])
