// What `npm start` prints when all is up: what is where, and a walk through it that can be pasted.
import type { DevStackFile } from './dev-stack.ts';

export function walkThrough(stack: DevStackFile, file: string): string {
  const client = 'npm run --silent client --';
  const dataDir = file.replace(/\/dev-stack\.json$/, '');
  return `
  API          ${stack.base_url}
  chain        ${stack.rpc_url}  (chain id ${stack.chain_id}, test dollar ${stack.asset})
  simulator    ${stack.simulator_url}  (GET /modems, POST /sms, GET /sms, POST /calls, GET /calls, GET /events)
  all of it    ${file}
  logs         ${dataDir}/*.log

Paste this into a second terminal, in this folder: two wallets buy a number each, one texts the other.

  export DATA_DIR='${dataDir}'
  ${client} --wallet 0 subscribe
  B=$(${client} --wallet 1 --print token subscribe --show-token)
  B_NUMBER=$(${client} --wallet 1 --print number number)
  ${client} --wallet 0 send --to "$B_NUMBER" --body 'Hello from the first wallet 👋'
  ${client} --wallet 1 receive --wait 10

And from the outside, with nothing but HTTP: the carrier delivers an SMS, the number's holder claims it.

  curl -s ${stack.simulator_url}/sms -H 'Content-Type: application/json' \\
    -d '{"from": "+13105550188", "to": "'"$B_NUMBER"'", "body": "Your code is 123456"}'
  curl -s ${stack.base_url}/sms/receive -H "Authorization: Bearer $B"

A call: the far end answers, the record is in the list. Audio is a WebSocket, the "stream_url"; nobody opens it here, so that
the call is hung up after 30 seconds.

  curl -s ${stack.base_url}/voice/dial -H "Authorization: Bearer $B" -H 'Content-Type: application/json' \\
    -d '{"phone_number": "'"$B_NUMBER"'", "to": "+13105550188"}'
  curl -s ${stack.base_url}/voice/calls -H "Authorization: Bearer $B"

Ctrl-C stops everything; what was bought and received is still there at the next start.
`;
}
