// `npm run bench`: every promise that is a number, measured now, on this machine.
import { benchInbound } from './inbound.ts';
import { benchReceive } from './receive.ts';
import { benchReceiveSms } from './receive-sms.ts';
import { holds, type Measurement, toTable } from './report.ts';
import { benchSend } from './send.ts';

const BENCHES: Readonly<Record<string, () => Promise<Measurement[]>>> = {
  receive: benchReceive,
  send: benchSend,
  'receive-sms': benchReceiveSms,
  inbound: benchInbound,
};

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !(name in BENCHES));
if (unknown.length > 0) {
  process.stderr.write(
    `error: no bench ${unknown.join(', ')}; there are ${Object.keys(BENCHES).join(', ')}\n`,
  );
  process.exit(1);
}
const measurements: Measurement[] = [];
for (const [name, bench] of Object.entries(BENCHES)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  process.stderr.write(`measuring: ${name} …\n`);
  measurements.push(...(await bench()));
}
process.stdout.write(`${toTable(measurements)}\n`);
const missed = measurements.filter((measurement) => !holds(measurement)).length;
process.stdout.write(`${measurements.length - missed} kept, ${missed} missed\n`);
