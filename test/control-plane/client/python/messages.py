# Buys, signs in, texts and waits, with both clients. Prints a line of JSON for each step; the test does the rest.
import asyncio
import json
import os
import sys

from simrack_client import (
    ApiError, AsyncSimrackClient, InvalidAnswer, InvalidRequest, KeySigner, NotPayable, PaymentRefused, PaymentUsed,
    SimrackClient, Timeout, Unauthorized, Unreachable, has_code,
)

URL, KEY, PRICE = os.environ["SIMRACK_URL"], os.environ["WALLET_KEY"], 1_800_000_000


def say(step, **fields):
    print(json.dumps({"step": step, **fields}), flush=True)


def failure(kind, work):
    try:
        work()
    except kind as error:
        return [type(error).__name__, error.code, getattr(error, "status", None), getattr(error, "field", None)]
    raise AssertionError(f"no {kind}")


async def afailure(kind, work):
    try:
        await work
    except kind as error:
        return [type(error).__name__, error.code, getattr(error, "status", None), getattr(error, "field", None)]
    raise AssertionError(f"no {kind}")


def sync():
    client, signer = SimrackClient(URL), KeySigner(KEY)
    say("dear", error=failure(NotPayable, lambda: client.subscribe(signer, max_amount=PRICE - 1)))
    poor = KeySigner("0x" + "7" * 64)
    say("poor", error=failure(PaymentRefused, lambda: client.subscribe(poor, max_amount=PRICE)))
    signed = []
    bought = client.subscribe(signer, max_amount=PRICE, on_signed=signed.append)
    say("bought", number=bought["number"], renewed=bought["renewed"], payment=signed[0])
    resumed = client.subscribe(signer, max_amount=PRICE, resume=signed[0])
    say("resumed", recovered=resumed["recovered"])
    old = client.token
    client.recover(signer)
    say("elsewhere", error=failure(InvalidAnswer, lambda: SimrackClient(URL, domain="false.example").recover(signer)))
    say("revoked", error=failure(Unauthorized, SimrackClient(URL, old).number))
    say("number", number=client.number()["number"])
    say("empty", error=failure(InvalidRequest, lambda: client.send("+13105550188", "")))
    say("emergency", error=failure(ApiError, lambda: client.send("911", "x")))
    say("away", error=failure(Unreachable, SimrackClient("http://127.0.0.1:9").availability))
    say("sent", status=client.send("+13105550188", "hello ✓")["status"])
    say("late", error=failure(Timeout, lambda: client.wait_for_code(1)))
    say("waiting")
    say("code", code=client.wait_for_code(30))
    say("held", bodies=[message["body"] for message in client.receive()])
    say("history", bodies=[message["body"] for message in client.history(limit=1)])
    receipts = SimrackClient(URL).receipts(limit=1, signer=signer)
    say("receipts", sequences=[receipt["sequence"] for receipt in receipts["receipts"]])
    return client.token


def used(payment):
    client, signer = SimrackClient(URL), KeySigner(KEY)
    try:
        client.subscribe(signer, max_amount=PRICE, resume=payment)
    except PaymentUsed as error:
        say("used", status=error.status, code=error.code, message=str(error))


async def asynchronous(token):
    client = AsyncSimrackClient(URL, token)
    say("async number", number=(await client.number())["number"])
    say("async empty", error=await afailure(InvalidRequest, client.send("+13105550188", "")))
    given_up = asyncio.create_task(client.wait_for_code(30))
    await asyncio.sleep(0.3)
    given_up.cancel()
    await asyncio.gather(given_up, return_exceptions=True)
    say("async waiting")
    say("async code", code=await client.wait_for_code(30))
    bound = await client.wait_for_message(30, match=has_code)
    say("async origin", code=bound["code"], origin=bound["code_origin"])
    say("async history", bodies=[message["body"] async for message in client.history(limit=2)])


if "PAYMENT" in os.environ:
    used(os.environ["PAYMENT"])
    sys.exit(0)
given = sync()
asyncio.run(asynchronous(given))
sys.exit(0)
