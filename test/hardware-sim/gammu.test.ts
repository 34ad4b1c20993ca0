// The real gammu program on a simulated modem: identify, read, send, delete.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { startModem, temporaryFolder } from './fixtures/rack.ts';

const isInstalled = spawnSync('gammu', ['--version']).status === 0;
const skip = isInstalled || process.env['CI'] !== undefined ? false : 'gammu is not installed';
/** Each run takes about 3.5 s: gammu pauses when it opens a port. */
const GAMMU_TIMEOUT_MS = 20_000;

async function setup(t: Test) {
  const { rack, modem, terminal } = await startModem(t);
  terminal.close();
  const configuration = join(temporaryFolder(t), 'gammurc');
  writeFileSync(configuration, `[gammu]\ndevice = ${modem.portPaths.at}\nconnection = at115200\n`);
  const gammu = async (...args: string[]): Promise<string> => {
    const child = spawn('gammu', ['-c', configuration, ...args], {
      timeout: GAMMU_TIMEOUT_MS,
      env: { ...process.env, LC_ALL: 'C.UTF-8' },
    });
    let output = '';
    child.stdout.on('data', (bytes: Buffer) => {
      output += bytes.toString();
    });
    child.stderr.on('data', (bytes: Buffer) => {
      output += bytes.toString();
    });
    const [code] = (await once(child, 'close')) as [number | null];
    if (code !== 0) throw new Error(`gammu ${args.join(' ')} ended with ${code}: ${output}`);
    return output;
  };
  return { rack, modem, gammu };
}

t.test('gammu identifies the modem', { skip }, async (t) => {
  const { modem, gammu } = await setup(t);
  const text = await gammu('identify');
  t.match(text, /Manufacturer +: Quectel/);
  t.match(text, new RegExp(`IMEI +: ${modem.imei}`));
  t.match(text, new RegExp(`SIM IMSI +: ${modem.identity.imsi}`));
});

t.test('gammu reads and deletes what arrived, once', { skip }, async (t) => {
  const { rack, modem, gammu } = await setup(t);
  const send = (from: string, body: string) =>
    rack.carrier.send({ from, to: modem.number, body, encoding: undefined, referenceBits: 8 });
  send('GOOGLE', 'Your code is [€] 123456');
  send('+15550000012', 'Привет 😀');
  send('12345', 'long '.repeat(50));
  const text = await gammu('getallsms');
  t.match(text, /Remote number +: "GOOGLE".*\n\nYour code is \[€\] 123456\n/s);
  t.match(text, /Remote number +: "\+15550000012".*\n\nПривет 😀\n/s);
  t.match(text, /4 SMS parts in 4 SMS sequences/);
  await gammu('deletesms', '1', '1');
  t.same(
    modem.stores.entries('SM').map(([index]) => index),
    [2, 3, 4],
  );
});

t.test('gammu sends, with a long text in parts', { skip }, async (t) => {
  const { rack, gammu } = await setup(t);
  const body = 'A long text with ümlauts. '.repeat(10).trim();
  const text = await gammu('sendsms', 'TEXT', '+12065550101', '-len', '400', '-report', '-text', body);
  t.match(text, /message reference=0.*message reference=1/s);
  const heard = [...rack.carrier.heard()];
  t.equal(heard.map((message) => message.body).join(''), body);
  t.match(heard, [{ concat: { total: 2, part: 1 } }, { concat: { total: 2, part: 2 } }]);
  t.equal(rack.modems[1]?.stores.used('SM'), 2);
});

t.test('gammu tells the network', { skip }, async (t) => {
  const { gammu } = await setup(t);
  const text = await gammu('networkinfo');
  t.match(text, /Network state +: home network/);
  t.match(text, /GPRS +: attached/);
});
