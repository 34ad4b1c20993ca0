"""Waits up to 50 seconds for a text, and prints it. TOKEN is set. Needs no packages."""
import json
import os
import urllib.error
import urllib.request

call = {"name": "receive_sms", "arguments": {"wait_seconds": 50}}
request = urllib.request.Request(
    os.environ["SIMRACK_URL"] + "/mcp",
    data=json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}).encode(),
    headers={
        "Authorization": "Bearer " + os.environ["TOKEN"],
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
    },
)
try:
    with urllib.request.urlopen(request, timeout=80) as response:
        result = next(json.loads(line[6:]) for line in response if line.startswith(b"data: {"))["result"]
except urllib.error.HTTPError as refusal:
    raise SystemExit(refusal.read().decode())
if result.get("isError"):
    raise SystemExit(result["structuredContent"]["message"])
if not result["structuredContent"]["messages"]:
    raise SystemExit("no text within 50 seconds")
for message in result["structuredContent"]["messages"]:
    print(message["from_number"], message["body"])
