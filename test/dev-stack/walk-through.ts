// The output of `npm start` when all is up: the addresses, and a walk through that can be pasted.
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { DevStackFile } from './dev-stack.ts';

const CLIENT = join(dirname(fileURLToPath(import.meta.url)), '../../control-plane/client/bin.mjs');
const FAR_END = '+13105550188';

export function walkThrough(stack: DevStackFile, file: string): string {
  const dataDir = dirname(file);
  return `
  API          ${stack.base_url}
  MCP          ${stack.base_url}/mcp  (Streamable HTTP; Authorization: Bearer, with the token of a number)
  chain        ${stack.rpc_url}  (chain id ${stack.chain_id}, test dollar ${stack.asset})
  simulator    ${stack.simulator_url}  (GET /modems, POST /sms, GET /sms, POST /calls, GET /calls, GET /events)
  all of it    ${file}
  logs         ${dataDir}/*.log

Paste this into a second terminal: two wallets buy a number each, one texts the other. (In this folder "npx --no-install simrack" is the same.)

  simrack() { DATA_DIR='${dataDir}' node '${CLIENT}' "$@"; }
  simrack subscribe
  NUMBER=$(simrack subscribe --wallet 1 --print number)
  simrack send --to "$NUMBER" --body 'Hello from the first wallet 👋'
  simrack receive --wallet 1 --wait 10

From the outside, with nothing but HTTP: the carrier delivers an SMS, and a modem's moment later the number's holder claims it.

  TOKEN=$(simrack subscribe --wallet 1 --print token)
  curl -s ${stack.simulator_url}/sms -H 'Content-Type: application/json' \\
    -d '{"from": "${FAR_END}", "to": "'"$NUMBER"'", "body": "Your code is 123456"}'; sleep 1
  curl -s ${stack.base_url}/sms/receive -H "Authorization: Bearer $TOKEN"

A call: the far end answers, three seconds of it are recorded, the record is in the list. Audio is a WebSocket, the "stream_url".

  simrack dial ${FAR_END} --wallet 1 --record '${dataDir}/heard.wav' --for 3
  curl -s ${stack.base_url}/voice/calls -H "Authorization: Bearer $TOKEN"

simrack --help has the rest. Ctrl-C stops everything; what was bought and received is still there at the next start.
`;
}
