// The faults that a run plays, as data: how often, how long, and what they excuse.
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
   * An announcement or a reading may get lost, so that a message waits for the next sweep while later ones
   * are told: it excuses the order.
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
const STORAGE_COMMANDS = ['+CMGR', '+CMGL', '+CMGD', '+CPMS'];

export const FAULT_TABLE: readonly FaultTemplate[] = [
  { kind: 'silent', weight: 6, make: timed('silent', [300, 9_000]), mayReorder: true },
  {
    kind: 'unplug',
    weight: 6,
    mayReorder: true,
    make: (random) => {
      const back_after_ms = random.integer(0, 5_000);
      return { body: { kind: 'unplug', back_after_ms }, lastsMs: back_after_ms + 1_000 };
    },
  },
  {
    // Back under another name, and stays there.
    kind: 'unplug_renamed',
    weight: 3,
    mayReorder: true,
    make: (random, { name }) => {
      const back_after_ms = random.integer(0, 4_000);
      return { body: { kind: 'unplug', back_after_ms, as: name }, lastsMs: back_after_ms + 1_000 };
    },
  },
  { kind: 'reset', weight: 5, make: () => ({ body: { kind: 'reset' }, lastsMs: 0 }), mayReorder: true },
  {
    kind: 'cms_error',
    weight: 6,
    make: counted('cms_error', 3, (random) => ({ code: random.pick(SEND_ERRORS) })),
  },
  {
    kind: 'cms_error_storage',
    weight: 4,
    mayReorder: true,
    make: (random) => {
      const command = random.pick(STORAGE_COMMANDS);
      const body = { kind: 'cms_error', code: random.pick([302, 314, 320, 500]), command };
      return { body: { ...body, count: random.integer(1, 3) }, lastsMs: random.integer(2_000, 8_000) };
    },
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
    kind: 'send_delay',
    weight: 3,
    make: (random) => ({
      body: { kind: 'send_delay', ms: random.integer(50, 1_500) },
      lastsMs: random.integer(2_000, 10_000),
    }),
  },
  { kind: 'lose_prompt', weight: 3, make: counted('lose_prompt', 2), mayReorder: true },
  // Each costs the modem a minute of waiting for the result.
  { kind: 'lose_result', weight: 1.5, make: counted('lose_result', 1), mayReorder: true },
  { kind: 'urc_lost', weight: 6, make: counted('urc_lost', 10), mayReorder: true },
  { kind: 'urc_mid_answer', weight: 6, make: counted('urc_mid_answer', 10) },
  { kind: 'garbage', weight: 4, make: counted('garbage', 6), mayReorder: true },
  {
    kind: 'delete_fails',
    weight: 6,
    make: counted('delete_fails', 6, (random) => ({ answer: random.pick(['error', 'ok']) })),
  },
  { kind: 'store_full', weight: 4, make: timed('store_full', [500, 8_000]) },
  { kind: 'not_registered', weight: 3, make: timed('not_registered', [300, 6_000]) },
  { kind: 'denied', weight: 2, make: timed('denied', [300, 4_000]) },
  { kind: 'volte_only', weight: 2, make: timed('volte_only', [1_000, 10_000]) },
  {
    kind: 'sim',
    weight: 3,
    mayReorder: true,
    make: (random) =>
      timed('sim', [300, 5_000], { state: random.pick(['not_inserted', 'busy', 'failure']) })(random),
  },
  {
    kind: 'status_report',
    weight: 5,
    make: (random) => ({
      body: {
        kind: 'status_report',
        ...random.pick([
          { withheld: true },
          { duplicated: true },
          { tp_status: 0x30 },
          { tp_status: 0x41 },
          { tp_status: 0x46 },
        ]),
      },
      lastsMs: random.integer(2_000, 10_000),
    }),
  },
];

/** Kinds of the simulator that no run plays, each with the reason. */
export const LEFT_OUT: Readonly<Record<string, string>> = {};

/** The simulator's kind that a template plays. */
export const simulatorKindOf = (template: FaultTemplate): string =>
  ({ unplug_renamed: 'unplug', cms_error_storage: 'cms_error' })[template.kind] ?? template.kind;
