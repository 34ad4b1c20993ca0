// A process with many bridged calls, as `simrack bridge --tokens` is one: the part of a bridge that carries audio.
import { bridgeCall } from '#control-plane/client/bridge/bridged-call.ts';
import { socketBot } from '#control-plane/client/bridge/socket-bot.ts';
import { SimrackClient } from '#control-plane/client/simrack-client.ts';

const { SERVICE_URL: baseUrl = '', BOT_URL: url = '', CALLS: calls = '1' } = process.env;
const client = new SimrackClient({ baseUrl, token: 'bench' });
const connect = socketBot({ url, protocol: 'twilio' });
const never = new AbortController().signal;

for (let index = 0; index < Number(calls); index += 1)
  void bridgeCall(
    { client, connect, onNote: () => undefined },
    { callId: `call_bench_${index}`, accountId: 'bench', direction: 'inbound', from: null, to: null },
    { signal: never, ended: never },
  );
process.stdout.write('{}\n');
