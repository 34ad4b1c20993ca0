// The control link as dialogues. Both halves play all of them: the real control plane against
// frames of a node, the real node against frames of a control plane.
import type { NodeFrame, ServerFrame } from '#shared/link/frame.ts';
import type { CommandName } from '#shared/link/messages.ts';
import { LINK_VERSION } from '#shared/link/version.ts';

interface WrittenFrame<T extends string> {
  readonly type: T;
  readonly [field: string]: unknown;
}

/**
 * One step. A frame `from` the half under test is awaited and compared; from the other half it is sent as it
 * stands. Values that only a run knows are written as `ANY`.
 */
export type Step =
  | { readonly from: 'node'; readonly frame: WrittenFrame<NodeFrame['type']> }
  | { readonly from: 'server'; readonly frame: WrittenFrame<ServerFrame['type']> }
  /** Text that is no frame of this version: only sent to the half under test, never expected of it. */
  | { readonly from: 'node' | 'server'; readonly text: string }
  /** The half under test ends the link with this code. */
  | { readonly closes: 'node' | 'server'; readonly code: number };

export interface Scenario {
  readonly name: string;
  /** The half that is to be tested, where the dialogue makes sense for one only. */
  readonly only?: 'node' | 'server';
  readonly steps: readonly Step[];
}

/** Stands for a value that is there and that the scenario does not say. */
export const ANY = '*any*';

const ICCID = '8901000000000000017';
export const NUMBER = '+12065550017';
export const RECIPIENT = '+13105550188';
const AT = '2026-11-21T08:00:00.000Z';

/** The slot that every node of a scenario has. */
export const slot = (state = 'registered') => ({
  slot: 'm0',
  state,
  device_id: '350000000000017',
  iccid: ICCID,
  number: NUMBER,
  operator: '00101',
  signal_dbm: -70,
  model: 'EC25',
  usb_path: '1-1.2',
  reason: null,
  storage: { used: 3, total: 20 },
  swept_at: AT,
});

/** Facts that wait: as many as the run has left. */
export const DEPTH = { journal_depth: ANY };

const hello: Step = {
  from: 'node',
  frame: {
    type: 'hello',
    version_min: ANY,
    version_max: ANY,
    journal_id: ANY,
    oldest_sequence: 0,
    slots: [slot()],
    alarms: [],
    ...DEPTH,
    calls: [],
  },
};

const welcome: Step = {
  from: 'server',
  frame: {
    type: 'welcome',
    version: LINK_VERSION,
    heartbeat_ms: ANY,
    stream_hold_ms: ANY,
    window: ANY,
    acknowledged: 0,
  },
};

const GREETING: readonly Step[] = [hello, welcome];

const received = (sequence: number): Step => ({
  from: 'node',
  frame: {
    type: 'fact',
    sequence,
    fact: {
      kind: 'sms_received',
      iccid: ICCID,
      from: RECIPIENT,
      body: `message ${sequence}`,
      sent_at: null,
      received_at: AT,
      partial: false,
      arrived_after: AT,
    },
  },
});

const report = (sequence: number): Step => ({
  from: 'node',
  frame: {
    type: 'fact',
    sequence,
    fact: {
      kind: 'sms_report',
      iccid: ICCID,
      command_id: null,
      message_reference: 7,
      recipient: RECIPIENT,
      part: 2,
      parts: 3,
      status: 'delivered',
      tp_status: 0,
      at: AT,
    },
  },
});

const CALL_ID = 'call-00000017';

/** The one that the holder of the number answers. */
export const INBOUND_CALL_ID = 'call-00000018';

const CALL = {
  call_id: CALL_ID,
  iccid: ICCID,
  direction: 'inbound',
  state: 'ringing',
  peer: RECIPIENT,
  started_at: AT,
  answered_at: null,
};

const callEnded = (sequence: number): Step => ({
  from: 'node',
  frame: {
    type: 'fact',
    sequence,
    fact: {
      kind: 'call_ended',
      call_id: CALL_ID,
      iccid: ICCID,
      direction: 'inbound',
      peer: RECIPIENT,
      started_at: AT,
      answered_at: null,
      ended_at: AT,
      reason: 'cancelled',
      cause: 16,
      audio: null,
    },
  },
});

const ack = (sequence: number): Step => ({ from: 'server', frame: { type: 'ack', sequence } });

const command: Step = {
  from: 'server',
  frame: {
    type: 'command',
    id: ANY,
    name: 'send_sms',
    time_left_ms: ANY,
    params: { iccid: ICCID, to: RECIPIENT, body: 'hello', segments_max: 1 },
  },
};

const commandOf = (name: CommandName, params: object): Step => ({
  from: 'server',
  frame: { type: 'command', id: ANY, name, params, time_left_ms: ANY },
});

const resultOf = (result: object): Step => ({
  from: 'node',
  frame: { type: 'result', id: ANY, ok: true, result },
});

export const SCENARIOS: readonly Scenario[] = [
  { name: 'hello and welcome', steps: GREETING },
  {
    name: 'facts are acknowledged in their order',
    steps: [...GREETING, received(1), ack(1), received(2), ack(2)],
  },
  {
    name: 'a report says which part it is about',
    steps: [...GREETING, report(1), ack(1)],
  },
  {
    name: 'slots and alarms',
    steps: [
      ...GREETING,
      {
        from: 'node',
        frame: {
          type: 'slots',
          slots: [slot('lost')],
          alarms: ['journal_unavailable'],
          ...DEPTH,
        },
      },
    ],
  },
  {
    name: 'an event',
    steps: [
      ...GREETING,
      {
        from: 'node',
        frame: { type: 'event', event: { slot: 'm0', kind: 'recovery_step', detail: 'radio', at: AT } },
      },
      received(1),
      ack(1),
    ],
  },
  {
    name: 'a command and its result',
    steps: [
      ...GREETING,
      command,
      {
        from: 'node',
        frame: {
          type: 'result',
          id: ANY,
          ok: true,
          result: { status: 'accepted', message_references: [7], at: AT },
        },
      },
    ],
  },
  {
    name: 'a rejected message has a class',
    steps: [
      ...GREETING,
      command,
      {
        from: 'node',
        frame: {
          type: 'result',
          id: ANY,
          ok: true,
          result: {
            status: 'rejected',
            code: 'cms_38',
            message: 'network out of order',
            at: AT,
            class: 'retry',
          },
        },
      },
    ],
  },
  {
    name: 'the limit of a SIM is a refusal',
    steps: [
      ...GREETING,
      command,
      {
        from: 'node',
        frame: {
          type: 'refusal',
          id: ANY,
          code: 'rate_limited',
          message: 'slow down',
          retry_after_ms: 12_000,
        },
      },
    ],
  },
  {
    name: 'a line that is busy is a refusal',
    steps: [
      ...GREETING,
      command,
      {
        from: 'node',
        frame: { type: 'refusal', id: ANY, message: 'a call is up', code: 'line_busy' },
      },
    ],
  },
  {
    name: 'a call that is dialled, and hung up',
    steps: [
      ...GREETING,
      commandOf('dial', { call_id: ANY, iccid: ICCID, to: RECIPIENT }),
      resultOf({ status: 'ringing' }),
      commandOf('hang_up', { call_id: ANY, reason: 'local_hangup' }),
      resultOf({}),
    ],
  },
  {
    name: 'a call that comes in, is answered and gets its audio',
    steps: [
      ...GREETING,
      { from: 'node', frame: { type: 'call', call: { ...CALL, call_id: INBOUND_CALL_ID } } },
      commandOf('answer', { call_id: INBOUND_CALL_ID }),
      resultOf({}),
      commandOf('open_media', { call_id: INBOUND_CALL_ID, base_url: null, ticket: ANY }),
      resultOf({}),
    ],
  },
  {
    name: 'a call that begins',
    steps: [...GREETING, { from: 'node', frame: { type: 'call', call: CALL } }],
  },
  {
    name: 'the end of a call',
    steps: [...GREETING, callEnded(1), ack(1)],
  },
  {
    name: 'before it ends, a server says so',
    steps: [...GREETING, { from: 'server', frame: { type: 'drain', within_ms: ANY } }],
  },
  {
    name: 'unknown fields are ignored, by the control plane',
    only: 'server',
    steps: [
      ...GREETING,
      {
        from: 'node',
        text: JSON.stringify({ ...frameOf(received(1)), colour: 'green', nested: { a: [1, null] } }),
      },
      ack(1),
    ],
  },
  {
    name: 'unknown fields are ignored, by the node',
    only: 'node',
    steps: [
      hello,
      { from: 'server', text: welcomeText(LINK_VERSION, { colour: 'green', nested: { a: [1, null] } }) },
      received(1),
    ],
  },
  ...(['node', 'server'] as const).flatMap((only): Scenario[] => {
    const other = only === 'node' ? 'server' : 'node';
    const refused = (name: string, text: string): Scenario => ({
      name: `${name}, to the ${only}`,
      only,
      steps: [...GREETING, { from: other, text }, { closes: only, code: 4400 }],
    });
    return [refused('an unknown type', '{"type":"party"}'), refused('no JSON', '{"type":')];
  }),
  {
    name: 'no version in common, says the control plane',
    only: 'server',
    steps: [
      {
        from: 'node',
        text: JSON.stringify({
          type: 'hello',
          version_min: 4,
          version_max: 9,
          journal_id: 'journal-1',
          oldest_sequence: 0,
          slots: [],
        }),
      },
      { closes: 'server', code: 4426 },
    ],
  },
  {
    name: 'no version in common, says the node',
    only: 'node',
    steps: [hello, { from: 'server', text: welcomeText(4) }, { closes: 'node', code: 4426 }],
  },
  {
    name: 'an unknown command is refused, and the link stays',
    only: 'node',
    steps: [
      ...GREETING,
      { from: 'server', text: '{"type":"command","id":"c1","name":"dance","params":{},"time_left_ms":1000}' },
      { from: 'node', frame: { type: 'refusal', id: 'c1', code: 'command_unknown', message: ANY } },
      received(1),
      ack(1),
    ],
  },
];

function welcomeText(version: number, more: object = {}): string {
  return JSON.stringify({
    type: 'welcome',
    version,
    heartbeat_ms: 60_000,
    window: 8,
    acknowledged: 0,
    ...more,
  });
}

function frameOf(step: Step): object {
  return 'frame' in step ? step.frame : {};
}
