// The real gammu program on simulated modems: identify, read, send, delete.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { MakeName } from '#hardware-sim/makes/make.ts';
import { run, skipWithout } from '../../fixtures/foreign-program.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';
import { startModem } from '../fixtures/rack.ts';

const skip = skipWithout('gammu', '--version');
// The programs pause most of the time.
t.jobs = 4;

/** Each run takes about 3.5 s: gammu pauses when it opens a port. */
async function setup(t: Test, make: MakeName = 'quectel') {
  const { rack, modem, terminal } = await startModem(t, { makes: [make] });
  await terminal.close();
  const configuration = join(temporaryFolder(t), 'gammurc');
  writeFileSync(configuration, `[gammu]\ndevice = ${modem.portPaths.at}\nconnection = at115200\n`);
  const gammu = (...args: string[]): Promise<string> => run('gammu', ['-c', configuration, ...args]);
  return { rack, modem, gammu };
}

for (const [make, manufacturer] of [
  ['quectel', 'Quectel'],
  ['simcom', 'SIMCOM'],
  ['huawei', 'Huawei'],
  ['generic', 'Generic'],
] as const) {
  t.test(`gammu identifies ${make}`, { skip }, async (t) => {
    const { modem, gammu } = await setup(t, make);
    const text = await gammu('identify');
    t.match(text, new RegExp(`Manufacturer +: ${manufacturer}`));
    t.match(text, new RegExp(`IMEI +: ${modem.imei}`));
    t.match(text, new RegExp(`SIM IMSI +: ${modem.identity.imsi}`));
  });
}

t.test('gammu reads and deletes what arrived, once', { skip }, async (t) => {
  const { rack, modem, gammu } = await setup(t);
  const send = (from: string, body: string) => rack.carrier.send({ from, to: modem.number, body });
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

t.test('gammu prints the network', { skip }, async (t) => {
  const { gammu } = await setup(t);
  const text = await gammu('networkinfo');
  t.match(text, /Network state +: home network/);
  t.match(text, /GPRS +: attached/);
});
