# Wrong arguments to the clients: each error names the argument, and does not show its value. Needs no service.
import asyncio
import json
from array import array
from datetime import datetime

from simrack_client import AsyncSimrackClient, KeySigner, SimrackClient
from simrack_client.arguments import audio

client = SimrackClient("http://127.0.0.1:9", "secret-token")
other = AsyncSimrackClient("http://127.0.0.1:9", "secret-token")


def message(work):
    try:
        work()
    except (TypeError, ValueError) as error:
        return f"{type(error).__name__}: {error}"
    raise AssertionError("no error")


print(json.dumps({"step": "wrong", "messages": [
    message(lambda: SimrackClient(None)),
    message(lambda: SimrackClient("127.0.0.1:8080")),
    message(lambda: SimrackClient("http://127.0.0.1:9", 5)),
    message(lambda: client.subscribe("0xsecret", max_amount=1)),
    message(lambda: client.subscribe(KeySigner("1" * 64), max_amount=1800.0)),
    message(lambda: KeySigner("secret")),
    message(lambda: client.send("+13105550188", None)),
    message(lambda: client.wait_for_message("60")),
    message(lambda: client.wait_for_message(match="code")),
    message(lambda: client.receive("20")),
    message(lambda: client.stream(None)),
    message(lambda: client.messages(since=datetime(2026, 1, 1))),
    message(lambda: client.delete_message("x")),
    message(lambda: asyncio.run(other.send(13105550188, "x"))),
    message(lambda: audio(b"abc")),
], "octets": len(audio(memoryview(array("h", [1, 2, 3]))))}))
