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
  MCP          ${stack.base_url}/mcp  (Streamable HTTP; send the token of a number in Authorization: Bearer)
  console      ${stack.console_url ?? 'off: start with CONSOLE_PORT=9470, and add an operator with "control-plane operator add NAME"'}
  chain        ${stack.rpc_url}  (chain id ${stack.chain_id}, test dollar ${stack.asset})
  simulator    ${stack.simulator_url}  (GET /modems, POST /sms, GET /sms, POST /calls, GET /calls, GET /events)
  for scripts  ${file}
  logs         ${dataDir}/*.log

Paste this into a second terminal. Two wallets buy a number each, and one texts the other. In this folder you can also write "npx --no-install simrack".

  simrack() { DATA_DIR='${dataDir}' node '${CLIENT}' "$@"; }
  simrack subscribe
  NUMBER=$(simrack subscribe --wallet 1 --print number)
  simrack send --to "$NUMBER" --body 'Hello from the first wallet 👋'
  simrack receive --wallet 1 --wait 10

The same with curl: the simulated carrier delivers an SMS, and a second later the second wallet claims it.

  TOKEN=$(simrack subscribe --wallet 1 --print token)
  curl -s ${stack.simulator_url}/sms -H 'Content-Type: application/json' \\
    -d '{"from": "${FAR_END}", "to": "'"$NUMBER"'", "body": "Your code is 123456"}'; sleep 1
  curl -s ${stack.base_url}/sms/receive -H "Authorization: Bearer $TOKEN"

Place a call: the far end answers, simrack records three seconds, and the list shows the call. Its audio is the WebSocket "stream_url".

  simrack dial ${FAR_END} --wallet 1 --record '${dataDir}/heard.wav' --for 3
  curl -s ${stack.base_url}/voice/calls -H "Authorization: Bearer $TOKEN"

simrack --help lists all commands. Ctrl-C stops everything. The next start continues with the same data.
`;
}
