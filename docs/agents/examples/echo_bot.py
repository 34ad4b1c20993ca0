# Answers each text with the same text. pip install '<path of simrack_client-0.1.0-py3-none-any.whl>[signing]'
import asyncio
import os

from simrack_client import ApiError, AsyncSimrackClient, KeySigner, PaymentRefused, Timeout

client = AsyncSimrackClient(os.environ["SIMRACK_URL"], os.environ.get("SIMRACK_TOKEN"))
signer = KeySigner(os.environ["WALLET_KEY"])


async def number():
    """The number of a stored token, or the wallet's. Without one, this buys one for a year, for up to 1,800 USDC."""
    if client.token:
        return (await client.number())["number"]
    try:
        # This ends the older tokens of the number.
        return (await client.recover(signer))["number"]
    except PaymentRefused:
        return (await client.subscribe(signer, max_amount=1_800_000_000))["number"]


async def main():
    print("number", await number(), flush=True)
    while True:
        try:
            text = await client.wait_for_message(timeout=3600)
        except Timeout:
            continue
        # Names and short codes cannot be answered, and STOP must not be. An echo to the own number would never end.
        sender = text["from_number"]
        if not sender.startswith("+") or text["opt_out_type"] == "stop" or text["kind"] != "text":
            continue
        if sender == text["to_number"]:
            continue
        try:
            await client.send(sender, text["body"][:70])
            print("echoed", text["body"], flush=True)
        except ApiError as error:
            print("not echoed:", error.code, flush=True)
            await asyncio.sleep(error.retry_after or 0)


asyncio.run(main())
