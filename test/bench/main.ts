// `npm run bench`: every promise that is a number, measured now, on this machine.
import { parseArgs } from 'node:util';
import { benchConsole } from './console.ts';
import { benchCredentials } from './credentials.ts';
import { benchHistory } from './history.ts';
import { benchCpu } from './modems/cpu.ts';
import { benchDoctor } from './modems/doctor.ts';
import { benchInbound } from './modems/inbound.ts';
import { benchRack } from './modems/rack.ts';
import { benchRadio } from './modems/radio.ts';
import { benchReceive } from './modems/receive.ts';
import { benchSend } from './modems/send.ts';
import { benchPayments } from './payments.ts';
import { benchReceiveSms } from './receive-sms.ts';
import { benchReconnect } from './reconnect.ts';
import { holds, type Measurement, toTable } from './report.ts';
import { SCALE_BENCHES } from './scale.ts';
import { benchStartup } from './startup.ts';
import { benchTools } from './tools.ts';
import { benchVoiceBridge } from './voice/voice-bridge.ts';
import { benchVoiceDelay } from './voice/voice-delay.ts';
import { benchVoicePresence } from './voice/voice-presence.ts';
import { benchVoiceRelay } from './voice/voice-relay.ts';
import { benchWebhooks } from './webhooks.ts';

interface Options {
  /** Messages in the large database of `history`. */
  rows?: number | undefined;
  /** Nodes of `scale:instance-dies`. */
  nodes?: number | undefined;
}

const BENCHES: Readonly<Record<string, (options: Options) => Promise<Measurement[]>>> = {
  startup: benchStartup,
  receive: benchReceive,
  payments: benchPayments,
  credentials: benchCredentials,
  inbound: benchInbound,
  send: benchSend,
  'receive-sms': benchReceiveSms,
  radio: benchRadio,
  rack: benchRack,
  cpu: benchCpu,
  doctor: benchDoctor,
  tools: benchTools,
  console: benchConsole,
  webhooks: benchWebhooks,
  reconnect: benchReconnect,
  'voice-relay': benchVoiceRelay,
  'voice-presence': benchVoicePresence,
  'voice-delay': benchVoiceDelay,
  'voice-bridge': benchVoiceBridge,
  ...SCALE_BENCHES,
  history: benchHistory,
};

const { positionals: wanted, values: given } = parseArgs({
  allowPositionals: true,
  options: { rows: { type: 'string' }, nodes: { type: 'string' } },
});
const count = (text: string | undefined): number | undefined =>
  text === undefined ? undefined : Number(text);
const options: Options = { rows: count(given.rows), nodes: count(given.nodes) };
/** `scale` stands for all that begin with `scale:`. */
const isWanted = (name: string): boolean =>
  wanted.length === 0 || wanted.some((each) => name === each || name.startsWith(`${each}:`));
const unknown = wanted.filter(
  (each) => !Object.keys(BENCHES).some((name) => name === each || name.startsWith(`${each}:`)),
);
if (unknown.length > 0) {
  process.stderr.write(
    `error: no bench ${unknown.join(', ')}; there are ${Object.keys(BENCHES).join(', ')}\n`,
  );
  process.exit(1);
}
// The programs beside the bench end when it exits, which a signal alone would not do.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(130));
const measurements: Measurement[] = [];
for (const [name, bench] of Object.entries(BENCHES)) {
  if (!isWanted(name)) continue;
  process.stderr.write(`measuring: ${name} …\n`);
  measurements.push(...(await bench(options)));
}
process.stdout.write(`${toTable(measurements)}\n`);
const promised = measurements.filter(({ target }) => target !== undefined);
const missed = promised.filter((measurement) => !holds(measurement)).length;
process.stdout.write(`${promised.length - missed} ok, ${missed} missed\n`);
