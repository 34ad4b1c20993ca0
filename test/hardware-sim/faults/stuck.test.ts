// A modem that hangs is cured by one step or a stronger one, and by nothing weaker.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { parseFault } from '#hardware-sim/faults/fault-set.ts';
import { until } from '../../fixtures/until.ts';
import { EventSource } from '../fixtures/event-source.ts';
import { type OneModem, startModem } from '../fixtures/rack.ts';
import { Terminal } from '../fixtures/terminal.ts';

const CURES = ['reopen', 'radio', 'restart', 'usb_reset'] as const;
type Cure = (typeof CURES)[number];

/** Long enough for a check of the ports, which comes every 20 ms. */
const SETTLE_MS = 100;

async function stuckModem(t: Test, cured_by: Cure): Promise<OneModem> {
  const one = await startModem(t, { bootMs: 10 });
  one.modem.play(parseFault({ kind: 'stuck', cured_by }));
  return one;
}

/** An operator's steps for a hanging modem, without knowing whether it listens. */
const STEPS: Record<Cure, (t: Test, one: OneModem) => Promise<void>> = {
  reopen: async (t, { modem, terminal }) => {
    await terminal.close();
    const again = new Terminal(modem.portPaths.at);
    t.teardown(() => again.close());
    await again.quietFor(SETTLE_MS);
  },
  radio: async (_, { terminal }) => {
    terminal.write('AT+CFUN=4\r');
    await terminal.quietFor(SETTLE_MS);
    terminal.write('AT+CFUN=1\r');
    await terminal.quietFor(SETTLE_MS);
  },
  restart: async (_, { modem, terminal }) => {
    terminal.write('AT+CFUN=1,1\r');
    await terminal.quietFor(SETTLE_MS);
    await until('the device is there', () => modem.state !== 'unplugged');
  },
  usb_reset: async (_, { rack, modem }) => {
    const file = join(rack.dir, 'sys/bus/usb/devices', modem.usb.path, 'authorized');
    writeFileSync(file, '0');
    await until('the device is off', () => modem.state === 'unauthorized');
    writeFileSync(file, '1');
    await until('the device is on', () => modem.state !== 'unauthorized');
  },
};

for (const [rank, cure] of CURES.entries()) {
  for (const [strength, step] of CURES.entries()) {
    const cures = strength >= rank;
    t.test(`cured by ${cure}: ${step} ${cures ? 'helps' : 'does not help'}`, async (t) => {
      const one = await stuckModem(t, cure);
      t.not(one.modem.state, 'registered');
      await STEPS[step](t, one);
      if (cures) await until('it is cured', () => one.modem.state === 'registered');
      t.equal(one.modem.faults.has('stuck'), !cures);
      t.equal(one.modem.state === 'registered', cures);
    });
  }
}

t.test('while it hangs nothing is answered and messages wait; the answer names the cure', async (t) => {
  const { rack, modem, terminal } = await startModem(t);
  const source = await EventSource.open(t, rack.url);
  modem.play(parseFault({ kind: 'stuck', cured_by: 'reopen' }));
  const { iccid, number } = modem.identity;
  rack.carrier.send({ from: '12345', to: number, body: 'Hi' });
  terminal.write('AT\r');
  t.equal(await terminal.quietFor(SETTLE_MS), '');
  t.equal(rack.carrier.waitingCount(iccid), 1);
  await terminal.close();
  const again = new Terminal(modem.portPaths.at);
  t.teardown(() => again.close());
  t.match((await source.next('fault_cured')).data, { kind: 'stuck', by: 'reopen' });
  await until('the message is there', () => rack.carrier.waitingCount(iccid) === 0);
  await again.command('ATE0');
  t.match(await again.command('AT+CMGL=4'), /\+CMGL: 1,/);
});

t.test('without its radio the modem answers and has no network', async (t) => {
  const { modem, terminal } = await startModem(t);
  modem.play(parseFault({ kind: 'stuck', cured_by: 'radio' }));
  t.match(await terminal.command('AT+CREG?;+CEREG?'), /\+CREG: 0,2.*\+CEREG: 0,2.*OK/s);
  await terminal.command('AT+CFUN=0');
  await terminal.command('AT+CFUN=1');
  t.match(await terminal.command('AT+CREG?'), /\+CREG: 0,1/);
});
