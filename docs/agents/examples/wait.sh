#!/bin/sh
# Waits up to 50 seconds for a text, and prints the answer. TOKEN is set.
set -eu

answer=$(curl -sS --fail-with-body "$SIMRACK_URL/mcp" -H "Authorization: Bearer $TOKEN" \
  -H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream' \
  -d '{"jsonrpc": "2.0", "id": 1, "method": "tools/call",
       "params": {"name": "receive_sms", "arguments": {"wait_seconds": 50}}}') ||
  { printf '%s\n' "$answer" >&2; exit 1; }
result=$(printf '%s\n' "$answer" | sed -n 's/^data: //; /^{/p')
case $result in
*'"isError":true'*) printf '%s\n' "$result" >&2; exit 1 ;;
*'"messages":[]'*) echo 'no text within 50 seconds' >&2; exit 1 ;;
esac
printf '%s\n' "$result"
