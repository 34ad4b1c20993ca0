#!/bin/sh
# Sends a text, claims what arrived, and places a call. TOKEN, NUMBER and TO are set.
set -eu

# What does a number cost? The answer is 402 Payment Required.
curl -s -w '\n' -X POST "$SIMRACK_URL/subscribe"

# Send a text.
curl -sS -w '\n' --fail-with-body "$SIMRACK_URL/sms/send" -H "Authorization: Bearer $TOKEN" \
  -H 'Content-Type: application/json' -d '{"to": "'"$TO"'", "body": "Hello from curl"}'

# Claim what arrived. Each text is returned once.
curl -sS -w '\n' --fail-with-body "$SIMRACK_URL/sms/receive?limit=20" -H "Authorization: Bearer $TOKEN"

# Read the history. This claims nothing.
curl -sS -w '\n' --fail-with-body "$SIMRACK_URL/sms/messages?limit=10" -H "Authorization: Bearer $TOKEN"

# Place a call, list the calls, and hang up.
call=$(curl -sS --fail-with-body "$SIMRACK_URL/voice/dial" -H "Authorization: Bearer $TOKEN" \
  -H 'Content-Type: application/json' -d '{"phone_number": "'"$NUMBER"'", "to": "'"$TO"'"}')
echo "$call"
curl -sS -w '\n' --fail-with-body "$SIMRACK_URL/voice/calls" -H "Authorization: Bearer $TOKEN"
call_id=$(echo "$call" | sed 's/.*"call_id":"\([^"]*\)".*/\1/')
curl -sS -w '\n' --fail-with-body "$SIMRACK_URL/voice/hangup" -H "Authorization: Bearer $TOKEN" \
  -H 'Content-Type: application/json' -d '{"call_id": "'"$call_id"'"}'
