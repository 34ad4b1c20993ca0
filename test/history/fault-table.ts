// The faults that a run plays, as data: how often, how long, and what they excuse.
import { VOICE_FAULTS } from '#hardware-sim/faults/voice-fault-schemas.ts';
import type { Random } from './random.ts';

export interface PlayedFault {
  /** As for POST /modems/{imei}/faults of the simulator. */
  body: Readonly<Record<string, unknown>> & { kind: string };
  /** After this time all faults of the modem are cleared; those that end by themselves end before. */
  lastsMs: number;
}

export interface FaultTemplate {
  kind: string;
  /** Share among the others. */
  weight: number;
  /** `modem` counts from 0; `name` is a link name that no other fault uses. */
  make(random: Random, where: { modem: number; name: string }): PlayedFault;
  /**
   * An announcement or a reading may get lost, so that a message waits for the next sweep while later ones are reported: it excuses the
   * order.
   */
  mayReorder?: boolean;
}

const forMs = (random: Random, min: number, max: number): { duration_ms: number; lastsMs: number } => {
  const duration_ms = random.integer(min, max);
  return { duration_ms, lastsMs: duration_ms + 500 };
};

/** A fault that lasts until its time is over. */
const timed = (kind: string, [min, max]: readonly [number, number], fields: Record<string, unknown> = {}) => {
  return (random: Random): PlayedFault => {
    const { duration_ms, lastsMs } = forMs(random, min, max);
    return { body: { kind, ...fields, duration_ms }, lastsMs };
  };
};

/** A fault that strikes some times and is cleared if it did not. */
const counted = (
  kind: string,
  max: number,
  fields: (random: Random) => Record<string, unknown> = () => ({}),
) => {
  return (random: Random): PlayedFault => ({
    body: { kind, ...fields(random), count: random.integer(1, max) },
    lastsMs: random.integer(2_000, 8_000),
  });
};

/** Refused by the network (3GPP TS 24.011 annex E, TS 27.005 §3.2.5), certain and uncertain ones. */
const SEND_ERRORS = [21, 27, 38, 41, 42, 304, 331, 332, 500];

/** 3GPP TS 23.040 §9.2.3.15: still trying, not obtainable, validity expired; and reports in odd shapes. */
const REPORTS = [
  { withheld: true },
  { duplicated: true },
  { tp_status: 0x30 },
  { tp_status: 0x41 },
  { tp_status: 0x46 },
  { recipient: 'national' },
  { recipient: 'digits' },
  { yesterday: true },
  { before_result: true },
  { memory: 'SM' },
  { memory: 'ME' },
  { memory: 'SR' },
];

function unplugged(random: Random, fields: Record<string, unknown>): PlayedFault {
  const back_after_ms = random.integer(0, 5_000);
  return { body: { kind: 'unplug', back_after_ms, ...fields }, lastsMs: back_after_ms + 1_000 };
}

/** Faults of the whole device and of its place on the bus. */
const DEVICE: readonly FaultTemplate[] = [
  { kind: 'silent', weight: 6, make: timed('silent', [300, 9_000]), mayReorder: true },
  {
    kind: 'stuck',
    weight: 4,
    mayReorder: true,
    make: (random) => ({
      body: { kind: 'stuck', cured_by: random.pick(['reopen', 'radio', 'restart', 'usb_reset']) },
      lastsMs: random.integer(5_000, 30_000),
    }),
  },
  { kind: 'unplug', weight: 6, make: (random) => unplugged(random, {}), mayReorder: true },
  {
    // Back under another name, and stays there.
    kind: 'unplug_renamed',
    weight: 3,
    mayReorder: true,
    make: (random, { name }) => unplugged(random, { as: name }),
  },
  {
    kind: 'port_gone',
    weight: 4,
    mayReorder: true,
    make: (random) => {
      const back_after_ms = random.integer(0, 4_000);
      const storage_ms = random.chance(0.3) ? random.integer(1, 3_000) : 0;
      const body = { kind: 'port_gone', back_after_ms, storage_ms };
      return { body, lastsMs: back_after_ms + storage_ms + 1_000 };
    },
  },
  { kind: 'storage', weight: 2, make: timed('storage', [300, 4_000]), mayReorder: true },
  { kind: 'reset', weight: 5, make: () => ({ body: { kind: 'reset' }, lastsMs: 0 }), mayReorder: true },
  { kind: 'not_reading', weight: 3, make: timed('not_reading', [300, 6_000]), mayReorder: true },
];

/** Faults of the dialogue on a port. */
const DIALOGUE: readonly FaultTemplate[] = [
  {
    kind: 'cms_error',
    weight: 6,
    make: counted('cms_error', 3, (random) => ({ code: random.pick(SEND_ERRORS) })),
  },
  {
    kind: 'cms_error_storage',
    weight: 4,
    mayReorder: true,
    make: counted('cms_error', 3, (random) => ({
      code: random.pick([302, 314, 320, 500]),
      command: random.pick(['+CMGR', '+CMGL', '+CMGD', '+CPMS']),
    })),
  },
  {
    kind: 'cme_error',
    weight: 2,
    mayReorder: true,
    make: counted('cme_error', 4, (random) => ({ code: random.pick([3, 4, 14, 100]) })),
  },
  {
    kind: 'slow_answer',
    weight: 4,
    mayReorder: true,
    make: counted('slow_answer', 6, (random) => ({ ms: random.integer(50, 3_000) })),
  },
  {
    kind: 'late_answer',
    weight: 3,
    mayReorder: true,
    make: counted('late_answer', 2, (random) => ({ ms: random.integer(100, 20_000) })),
  },
  {
    kind: 'echo',
    weight: 2,
    make: (random) => ({ body: { kind: 'echo', to: random.pick(['on', 'off']) }, lastsMs: 3_000 }),
  },
  { kind: 'lose_prompt', weight: 3, make: counted('lose_prompt', 2), mayReorder: true },
  {
    kind: 'error_after_prompt',
    weight: 3,
    mayReorder: true,
    make: counted('error_after_prompt', 2, (random) => ({
      code: random.pick(SEND_ERRORS),
      after_characters: random.integer(1, 60),
    })),
  },
  // Each costs the modem a minute of waiting for the result.
  { kind: 'lose_result', weight: 1.5, make: counted('lose_result', 1), mayReorder: true },
  { kind: 'urc_mid_answer', weight: 6, make: counted('urc_mid_answer', 10) },
  {
    kind: 'glued_urcs',
    weight: 3,
    mayReorder: true,
    make: counted('glued_urcs', 5, (random) => ({ apart_by: random.pick(['line_end', 'nothing']) })),
  },
  {
    kind: 'urc_port',
    weight: 3,
    mayReorder: true,
    make: (random) => timed('urc_port', [500, 6_000], { port: random.pick(['at2', 'none']) })(random),
  },
  { kind: 'garbage', weight: 4, make: counted('garbage', 6), mayReorder: true },
];

/** Faults of the stores and of their announcements. */
const STORE: readonly FaultTemplate[] = [
  { kind: 'urc_lost', weight: 6, make: counted('urc_lost', 10), mayReorder: true },
  {
    kind: 'cmti',
    weight: 4,
    mayReorder: true,
    make: counted('cmti', 4, (random) => ({
      form: random.pick(['no_memory', 'other_memory', 'empty_slot', 'mms_push']),
      retry_ms: random.integer(500, 4_000),
    })),
  },
  {
    kind: 'delete_fails',
    weight: 6,
    make: counted('delete_fails', 6, (random) => ({ answer: random.pick(['error', 'ok']) })),
  },
  { kind: 'store_full', weight: 4, make: timed('store_full', [500, 8_000]) },
  {
    kind: 'capacity',
    weight: 3,
    make: (random) =>
      timed('capacity', [1_000, 10_000], { ME: random.integer(1, 8), SM: random.integer(1, 4) })(random),
  },
];

/** Faults of the card, the network and the carrier. */
const NETWORK: readonly FaultTemplate[] = [
  {
    kind: 'sim',
    weight: 3,
    mayReorder: true,
    make: (random) => {
      const state = random.pick(['not_inserted', 'pin', 'puk', 'busy', 'failure']);
      return timed('sim', [300, 5_000], { state, urc: random.chance(0.5) })(random);
    },
  },
  { kind: 'not_registered', weight: 3, make: timed('not_registered', [300, 6_000]) },
  { kind: 'denied', weight: 2, make: timed('denied', [300, 4_000]) },
  { kind: 'roaming', weight: 2, make: timed('roaming', [300, 6_000]) },
  { kind: 'volte_only', weight: 2, make: timed('volte_only', [1_000, 10_000]) },
  {
    kind: 'flapping',
    weight: 2,
    make: (random) => timed('flapping', [1_000, 6_000], { period_ms: random.integer(50, 2_000) })(random),
  },
  {
    kind: 'slow_network',
    weight: 3,
    make: (random) => timed('slow_network', [1_000, 8_000], { ms: random.integer(50, 1_500) })(random),
  },
  { kind: 'signal', weight: 1, make: timed('signal', [1_000, 8_000], { rssi: 99 }) },
  {
    kind: 'send_delay',
    weight: 3,
    make: (random) => ({
      body: { kind: 'send_delay', ms: random.integer(50, 1_500) },
      lastsMs: random.integer(2_000, 10_000),
    }),
  },
  {
    // Time stamps say nothing of the order.
    kind: 'clock',
    weight: 2,
    mayReorder: true,
    make: (random) =>
      timed(
        'clock',
        [1_000, 6_000],
        random.pick([{ years: -20 }, { years: 30 }, { scts: 'FFFFFFFFFFFFFF' }]),
      )(random),
  },
  { kind: 'message_reference', weight: 2, make: timed('message_reference', [1_000, 6_000]) },
  {
    kind: 'status_report',
    weight: 8,
    make: (random) => ({
      body: { kind: 'status_report', ...random.pick(REPORTS) },
      lastsMs: random.integer(2_000, 10_000),
    }),
  },
];

export const FAULT_TABLE: readonly FaultTemplate[] = [...DEVICE, ...DIALOGUE, ...STORE, ...NETWORK];

/** Kinds of the simulator that no run plays, each with the reason. */
export const LEFT_OUT: Readonly<Record<string, string>> = Object.fromEntries(
  [...Object.keys(VOICE_FAULTS), 'settings_lost', 'carrier_profiles'].map((kind) => [
    kind,
    'of calls, which leave messages alone',
  ]),
);
