# Calls with the client of argv[1] (sync or async): sends audio, waits for its mark, counts what it hears, until the far end hangs up.
import asyncio
import json
import os
import sys

from simrack_client import ApiError, AsyncSimrackClient, SimrackClient

URL, TOKEN, TO = os.environ["SIMRACK_URL"], os.environ["TOKEN"], "+13105550188"
SPOKEN = bytes([3]) * 3200


def say(step, **fields):
    print(json.dumps({"step": step, **fields}), flush=True)


def sync():
    client = SimrackClient(URL, TOKEN)
    try:
        SimrackClient(URL, "wrong").stream("x")
    except ApiError as error:
        say("refused", code=error.code)
    call = client.dial(TO)
    say("dialled", call_id=call["call_id"])
    heard = 0
    with client.stream(call["call_id"]) as stream:
        for item in stream:
            if isinstance(item, bytes):
                heard += len(item)
            elif item["type"] == "answered":
                stream.send(SPOKEN)
                stream.mark("spoken")
            elif item["type"] == "mark":
                say("played", name=item["name"])
        say("ended", heard=heard > 0, code=stream.close_code)


async def asynchronous():
    client = AsyncSimrackClient(URL, TOKEN)
    try:
        await AsyncSimrackClient(URL, "wrong").stream("x")
    except ApiError as error:
        say("refused", code=error.code)
    call = await client.dial(TO)
    say("dialled", call_id=call["call_id"])
    heard = 0
    async with await client.stream(call["call_id"]) as stream:
        async for item in stream:
            if isinstance(item, bytes):
                heard += len(item)
            elif item["type"] == "answered":
                await stream.send(SPOKEN)
                await stream.mark("spoken")
            elif item["type"] == "mark":
                say("played", name=item["name"])
        say("ended", heard=heard > 0, code=stream.close_code)


sync() if sys.argv[1] == "sync" else asyncio.run(asynchronous())
