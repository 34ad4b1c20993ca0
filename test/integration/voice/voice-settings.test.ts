// Settings for calls on the network of a card: the real daemon on simulated modems that begin without it.
import t, { type Test } from 'tap';
import { commandFamily } from '#hardware-sim/behaviors/behavior.ts';
import { parseFault } from '#hardware-sim/faults/fault-set.ts';
import type { SimulatedModem } from '#hardware-sim/modem/modem.ts';
import type { SimulatorOptions } from '#hardware-sim/simulator.ts';
import type { Slot } from '#shared/link/slot.ts';
import { until } from '../../fixtures/until.ts';
import { ended, startToolRig, type ToolRig } from '../../node-daemon/operator/tool-rig.ts';

const WAIT_MS = 60_000;
const TMO = 'Commercial-TMO_VoLTE';

interface Rack extends ToolRig {
  modem(index?: number): SimulatedModem;
  /** The slot of a modem as the node reported it last. */
  slot(index?: number): Slot | undefined;
  /** Restarts by command, of all modems. */
  restarts(): number;
  reads(index: number, command: string): string;
}

async function startRack(
  t: Test,
  { config = '', ...rack }: Partial<SimulatorOptions> & { config?: string } = {},
): Promise<Rack> {
  const options = { modems: 1, homeNetwork: '310260', bootMs: 300, ...rack };
  const rig = await startToolRig(t, options, config);
  const modem = (index = 0): SimulatedModem => {
    const found = rig.simulator.modems[index];
    if (found === undefined) throw new Error(`no modem ${index}`);
    return found;
  };
  let restarts = 0;
  for (const each of rig.simulator.modems) {
    each.define(
      commandFamily('counting', {
        '+CFUN': ({ operation, value }) => {
          if (operation === 'set' && value === '1,1') restarts += 1;
          return undefined;
        },
        '+CRESET': () => {
          restarts += 1;
          return undefined;
        },
      }),
    );
  }
  return {
    ...rig,
    modem,
    restarts: () => restarts,
    slot(index = 0) {
      const frames = rig.plane.frames.filter((frame) => frame.type === 'hello' || frame.type === 'slots');
      const { imei } = modem(index).identity;
      return frames.at(-1)?.slots.find((each) => each.device_id === imei);
    },
    reads: (index, name) => modem(index).equipment.flash.get(name) ?? 'as from the factory',
  };
}

const settled = (rack: Rack, state: 'right' | 'differs', index = 0) =>
  until(
    `settings that are ${state}`,
    () => {
      const slot = rack.slot(index);
      return slot?.state === 'registered' && slot.voice_settings?.state === state;
    },
    WAIT_MS,
  );

t.test(
  'a new card: profile, calls over LTE and context, with one restart; then never again',
  { timeout: 180_000 },
  async (t) => {
    const rack = await startRack(t, { modems: 2, makes: ['quectel', 'simcom'] });
    rack.modem(1).equipment.flash.set('+CNMP', '14');
    const daemon = await rack.startDaemon();
    for (const index of [0, 1]) await settled(rack, 'right', index);
    t.same(rack.slot()?.voice_settings, { network: '310260', state: 'right', why: null, detail: null });
    t.equal(rack.reads(0, '+QMBNCFG Select'), TMO);
    t.equal(rack.reads(0, '+QMBNCFG AutoSel'), '0', 'or the next start would choose another');
    t.equal(rack.reads(0, '+QCFG ims'), '1');
    t.match(rack.reads(0, '+CGDCONT 02'), /"IPV4V6","ims"/);
    t.equal(rack.reads(0, '+CGDCONT 01'), 'as from the factory', 'that for data is left alone');
    t.equal(rack.reads(1, '+CNMP'), '2');
    t.equal(rack.restarts(), 1, 'only the Quectel needs one');
    t.match((await rack.tool('list')).stdout, /CALLS SET UP[\s\S]*1-1\.1 .* yes /);
    t.match((await rack.tool('doctor')).stdout, /slot 1-1\.1: ok/);

    const writes = [0, 1].map((index) => rack.modem(index).equipment.flash.writes);
    await ended(daemon, 'SIGKILL');
    await rack.startDaemon();
    for (const index of [0, 1]) await settled(rack, 'right', index);
    t.same(
      [0, 1].map((index) => rack.modem(index).equipment.flash.writes),
      writes,
      'settings that already read back right are not written',
    );
    t.equal(rack.restarts(), 1);
  },
);

t.test(
  'a modem that forgets: one restart, whatever happens to the daemon',
  { timeout: 180_000 },
  async (t) => {
    const rack = await startRack(t);
    rack.modem().play(parseFault({ kind: 'settings_lost' }));
    const daemon = await rack.startDaemon();
    await settled(rack, 'differs');
    await until('the reason', () => rack.slot()?.voice_settings?.why === 'not_kept', WAIT_MS);
    t.match(rack.slot()?.voice_settings?.detail, `carrier_profile: ROW_Generic_3GPP, not ${TMO}`);
    t.equal(rack.restarts(), 1);
    await ended(daemon, 'SIGKILL');
    await rack.startDaemon();
    await until('the reason again', () => rack.slot()?.voice_settings?.why === 'not_kept', WAIT_MS);
    t.equal(rack.restarts(), 1);
    t.match((await rack.tool('doctor')).stdout, /voice_settings .*does not keep it|does not keep it/);
  },
);

t.test(
  'a modem that refuses: the former choice is back, and it is not asked again',
  { timeout: 120_000 },
  async (t) => {
    const rack = await startRack(t);
    let selections = 0;
    rack.modem().define(
      commandFamily('refusing', {
        '+QMBNCFG': ({ parameters: [what, name] }) => {
          if (what?.toLowerCase() !== 'select' || name !== TMO) return undefined;
          selections += 1;
          return { kind: 'error' };
        },
      }),
    );
    await rack.startDaemon();
    // The other setting needs a restart, and the session after it finds the refusal.
    await until(
      'the end',
      () => rack.restarts() === 1 && rack.slot()?.voice_settings?.why === 'not_kept',
      WAIT_MS,
    );
    t.equal(rack.reads(0, '+QMBNCFG AutoSel'), '1');
    t.equal(
      rack.reads(0, '+QMBNCFG Select'),
      'ROW_Generic_3GPP',
      'a modem without a profile would have no network',
    );
    t.equal(selections, 1);
  },
);

t.test('firmware without the profile, and with another name for it', { timeout: 120_000 }, async (t) => {
  const config =
    'carrier_settings:\n  networks:\n    "310260": { profile: TF_Spain_VoLTE, ims_apn: spain.ims }\n';
  const own = await startRack(t, { config });
  await own.startDaemon();
  await settled(own, 'right');
  t.equal(own.reads(0, '+QMBNCFG Select'), 'TF_Spain_VoLTE');
  t.match(own.reads(0, '+CGDCONT 02'), /"spain\.ims"/);

  const rack = await startRack(t);
  rack.modem().play(parseFault({ kind: 'carrier_profiles', names: ['ROW_Generic_3GPP'] }));
  await rack.startDaemon();
  await until('the reason', () => rack.slot()?.voice_settings?.why === 'unknown_to_firmware', WAIT_MS);
  t.equal(rack.reads(0, '+QMBNCFG Select'), 'as from the factory');
  t.equal(rack.reads(0, '+QCFG ims'), '1', 'the others are set all the same');
  t.ok(rack.restarts() <= 1);
});

t.test(
  'switched off, by a tool, and on an unknown network: nothing is written',
  { timeout: 120_000 },
  async (t) => {
    const off = await startRack(t, { config: 'carrier_settings: { apply: false }\n' });
    await off.startDaemon();
    await settled(off, 'differs');
    t.equal(off.slot()?.voice_settings?.why, 'off');
    t.equal(off.modem().equipment.flash.writes, 0);

    const bare = await startRack(t);
    t.match((await bare.tool('doctor')).stdout, /start the daemon/);
    t.equal(bare.modem().equipment.flash.writes, 0, 'the doctor only reads');

    const test = await startRack(t, { homeNetwork: '00101' });
    await test.startDaemon();
    t.equal(test.slot()?.voice_settings, null);
    t.equal(test.modem().equipment.flash.writes, 0);
    t.equal(off.restarts() + bare.restarts() + test.restarts(), 0);
  },
);
