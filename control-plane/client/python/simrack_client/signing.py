"""Signatures of a wallet: EIP-191 for signing in, EIP-712 (EIP-3009) for paying."""

from __future__ import annotations

import re
from typing import Any, Dict, Protocol


_KEY = re.compile(r"(?:0x)?[0-9a-fA-F]{64}")


class Signer(Protocol):
    """Any wallet. Both signatures are 0x-prefixed hexadecimal."""

    address: str

    def sign_message(self, text: str) -> str:
        """Signs a text (EIP-191, personal_sign)."""
        ...

    def sign_typed_data(self, typed_data: Dict[str, Any]) -> str:
        """Signs typed data (EIP-712): `domain`, `types`, `primaryType` and `message`, as `eth_signTypedData_v4` takes them."""
        ...


TRANSFER_TYPES = {
    "EIP712Domain": [
        {"name": "name", "type": "string"},
        {"name": "version", "type": "string"},
        {"name": "chainId", "type": "uint256"},
        {"name": "verifyingContract", "type": "address"},
    ],
    "TransferWithAuthorization": [
        {"name": "from", "type": "address"},
        {"name": "to", "type": "address"},
        {"name": "value", "type": "uint256"},
        {"name": "validAfter", "type": "uint256"},
        {"name": "validBefore", "type": "uint256"},
        {"name": "nonce", "type": "bytes32"},
    ],
}


class KeySigner:
    """A private key. Needs Debian's python3-ecdsa and python3-pycryptodome, or `pip install ecdsa pycryptodomex`."""

    def __init__(self, private_key: str) -> None:
        try:
            import ecdsa

            _keccak(b"")
        except ImportError as error:
            raise ImportError(
                "KeySigner needs Debian's python3-ecdsa and python3-pycryptodome for /usr/bin/python3, or pip install ecdsa pycryptodomex"
            ) from error
        # The errors of int() would show the key.
        if not isinstance(private_key, str) or not _KEY.fullmatch(private_key):
            raise ValueError("private_key must be a string of 64 hexadecimal digits, with or without 0x")
        self._ecdsa = ecdsa
        self._key = ecdsa.SigningKey.from_secret_exponent(int(private_key, 16), ecdsa.SECP256k1)
        self.address = "0x" + _keccak(self._key.verifying_key.to_string())[-20:].hex()

    def sign_message(self, text: str) -> str:
        data = text.encode()
        return self._sign(_keccak(b"\x19Ethereum Signed Message:\n" + str(len(data)).encode() + data))

    def sign_typed_data(self, typed_data: Dict[str, Any]) -> str:
        types, primary = typed_data["types"], typed_data["primaryType"]
        domain = _hash_struct("EIP712Domain", types["EIP712Domain"], typed_data["domain"])
        return self._sign(_keccak(b"\x19\x01" + domain + _hash_struct(primary, types[primary], typed_data["message"])))

    def _sign(self, digest: bytes) -> str:
        curve = self._ecdsa.SECP256k1
        r, s = self._key.sign_digest_deterministic(digest, sigencode=lambda r, s, _: (r, s))
        # EIP-2: the lower of the two.
        s = min(s, curve.order - s)
        rs = r.to_bytes(32, "big") + s.to_bytes(32, "big")
        candidates = self._ecdsa.VerifyingKey.from_public_key_recovery_with_digest(rs, digest, curve)
        return "0x" + (rs + bytes([27 + candidates.index(self._key.verifying_key)])).hex()


def _keccak(data: bytes) -> bytes:
    # The name differs: Debian's package and pycryptodomex, or pycryptodome.
    try:
        from Cryptodome.Hash import keccak
    except ImportError:
        from Crypto.Hash import keccak
    return keccak.new(digest_bits=256, data=data).digest()


def _hash_struct(name: str, fields: Any, values: Dict[str, Any]) -> bytes:
    """Flat structures only. Throws `ValueError` for a type that it does not know."""
    described = ",".join(f"{field['type']} {field['name']}" for field in fields)
    parts = [_keccak(f"{name}({described})".encode())]
    for field in fields:
        kind, value = field["type"], values[field["name"]]
        if kind == "string":
            parts.append(_keccak(value.encode()))
        elif kind in ("uint256", "address", "bytes32"):
            parts.append(int(str(value), 0).to_bytes(32, "big"))
        else:
            raise ValueError(f"unknown type {kind}")
    return _keccak(b"".join(parts))
