// Every fault that the simulator can play, on a daemon that serves other modems at the same time. A message that was given to a modem
// arrives once, sent messages go out as reported, and the slot is in service again.
import t from 'tap';
import { FAULT_SCHEMAS } from '#hardware-sim/faults/fault-schemas.ts';
import type { FaultKind } from '#hardware-sim/faults/fault-set.ts';
import { VOICE_FAULTS } from '#hardware-sim/faults/voice-fault-schemas.ts';
import type { SmsOutcome } from '#shared/link/messages.ts';
import { startDaemonOnRack } from '../fixtures/nodes/daemon-on-rack.ts';
import { until } from '../fixtures/until.ts';

const STRANGER = '+12065559999';
/** Time for all recovery steps of a silent modem, doubled for a busy machine. */
const IN_SERVICE_AGAIN_MS = 180_000;
/** A lost result keeps the line for a minute; behind the ladder it is the ladder's time. */
const ARRIVES_MS = 180_000;

interface Scenario {
  /** Fields of the fault besides its kind. */
  readonly fault?: Record<string, unknown>;
  /** The state that the operator sees meanwhile. */
  readonly state?: string;
}

/** Faults of calls leave messages alone. */
type MessageFaultKind = Exclude<FaultKind, keyof typeof VOICE_FAULTS>;

const SCENARIOS: Record<MessageFaultKind, readonly Scenario[]> = {
  silent: [{ fault: { duration_ms: 8_000 } }],
  stuck: [
    { fault: { cured_by: 'reopen' } },
    { fault: { cured_by: 'radio' } },
    { fault: { cured_by: 'restart' } },
    { fault: { cured_by: 'usb_reset' } },
  ],
  unplug: [
    { fault: { back_after_ms: 1_500 }, state: 'lost' },
    { fault: { back_after_ms: 500, as: 'elsewhere' } },
  ],
  port_gone: [{ fault: { back_after_ms: 1_000 } }],
  storage: [{ fault: { duration_ms: 3_000 } }],
  reset: [{}],
  settings_lost: [{ fault: { duration_ms: 5_000 } }],
  carrier_profiles: [{ fault: { names: [] } }],
  not_reading: [{ fault: { duration_ms: 6_000 } }],
  cms_error: [{ fault: { code: 38, count: 1 } }, { fault: { code: 500, count: 1 } }],
  cme_error: [{ fault: { code: 14, count: 3 } }],
  slow_answer: [{ fault: { ms: 700, count: 5 } }],
  late_answer: [{}],
  echo: [{ fault: { to: 'on' } }, { fault: { to: 'off' } }],
  lose_prompt: [{}],
  error_after_prompt: [{}],
  lose_result: [{}],
  urc_mid_answer: [{ fault: { count: 20 } }],
  glued_urcs: [{}],
  urc_port: [
    { fault: { port: 'none', duration_ms: 10_000 } },
    { fault: { port: 'at2', duration_ms: 10_000 } },
  ],
  garbage: [{ fault: { count: 5 } }],
  urc_lost: [{}],
  cmti: [
    { fault: { form: 'no_memory', retry_ms: 1_000 } },
    { fault: { form: 'other_memory' } },
    { fault: { form: 'empty_slot' } },
    { fault: { form: 'mms_push' } },
  ],
  delete_fails: [{ fault: { answer: 'error', count: 2 } }, { fault: { answer: 'ok', count: 2 } }],
  store_full: [{ fault: { duration_ms: 4_000 } }],
  capacity: [{ fault: { SM: 1, ME: 1 } }],
  sim: [
    { fault: { state: 'not_inserted', duration_ms: 8_000, urc: true }, state: 'sim_absent' },
    { fault: { state: 'puk', duration_ms: 8_000, urc: true }, state: 'sim_locked' },
    { fault: { state: 'busy', duration_ms: 5_000 } },
  ],
  not_registered: [{ fault: { duration_ms: 5_000 }, state: 'searching' }],
  denied: [{ fault: { cause: 13, duration_ms: 5_000 }, state: 'denied' }],
  roaming: [{ state: 'registered' }],
  volte_only: [{ state: 'registered' }],
  flapping: [{ fault: { period_ms: 400, duration_ms: 5_000 } }],
  slow_network: [{ fault: { ms: 1_500, duration_ms: 10_000 } }],
  signal: [{ fault: { rssi: 99 } }],
  send_delay: [{ fault: { ms: 1_500 } }],
  clock: [{ fault: { years: -40 } }, { fault: { scts: 'FFFFFFFFFFFFFF' } }],
  message_reference: [{ fault: { value: 0 } }],
  status_report: [{ fault: { withheld: true } }, { fault: { duplicated: true } }],
};

t.test('the scenarios are of all faults but those of calls', async (t) => {
  const ofMessages = Object.keys(FAULT_SCHEMAS).filter((kind) => !(kind in VOICE_FAULTS));
  t.same(Object.keys(SCENARIOS).sort(), ofMessages.sort());
});

const cases = Object.entries(SCENARIOS).flatMap(([kind, scenarios]) =>
  scenarios.map((scenario) => ({ kind, scenario })),
);

t.test('faults', { timeout: 390_000, jobs: cases.length }, async (t) => {
  const { plane, simulator } = await startDaemonOnRack(t, {
    rack: { modems: cases.length },
    config: 'recovery:\n  usb_reset: authorized\n',
  });
  const ask = async (path: string, body?: unknown): Promise<unknown> => {
    const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    const response = await fetch(`${simulator.url}${path}`, init);
    if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
    return response.json();
  };
  const modems = (await ask('/modems')) as { imei: string; iccid: string; number: string }[];

  await Promise.all(
    cases.map(({ kind, scenario }, index) =>
      t.test(`${kind} ${JSON.stringify(scenario.fault ?? {})}`, { buffered: true }, async (t) => {
        const modem = modems[index];
        if (modem === undefined) throw new Error('no modem');
        const { iccid, imei, number } = modem;
        const send = async (body: string): Promise<SmsOutcome | 'refused'> => {
          const params = { iccid, to: STRANGER, body, segments_max: 1 };
          const answer = await plane.command('send_sms', params, { timeLeftMs: 20_000 });
          return answer.type === 'result' ? (answer.result as SmsOutcome) : 'refused';
        };
        const receive = async (body: string): Promise<void> => {
          await ask('/sms', { from: STRANGER, to: number, body });
          await until(`${body} arrives`, () => factsWith(body) > 0, ARRIVES_MS);
        };
        const factsWith = (body: string): number =>
          plane.factsOf('sms_received').filter((fact) => fact.body === body).length;
        const carried = async (body: string): Promise<number> => {
          const messages = (await ask('/sms?since=0')) as { body: string | null }[];
          return messages.filter((message) => message.body === body).length;
        };

        await ask(`/modems/${imei}/faults`, { kind, ...scenario.fault });
        const { state } = scenario;
        if (state !== undefined) {
          await until(`the state ${state}`, () => plane.modemState(imei) === state, 40_000);
        }
        const sent = `sent under ${kind} ${index}`;
        const [outcome] = await Promise.all([send(sent), receive(`received under ${kind} ${index}`)]);
        await until('in service', () => plane.modemState(imei) === 'registered', IN_SERVICE_AGAIN_MS);

        const status = outcome === 'refused' ? 'refused' : outcome.status;
        const times = await carried(sent);
        if (status === 'accepted') t.equal(times, 1, 'accepted: it went out');
        else if (status === 'unknown') t.ok(times <= 1, 'unknown: it went out once at most');
        else t.equal(times, 0, `${status}: it did not go out`);

        await receive(`received after ${kind} ${index}`);
        let attempt = 0;
        const again = (): string => `sent after ${kind} ${index}, attempt ${attempt}`;
        await until(
          'a send after the fault is accepted',
          async () => {
            attempt += 1;
            const later = await send(again());
            return later !== 'refused' && later.status === 'accepted';
          },
          ARRIVES_MS,
        );
        t.equal(await carried(again()), 1);
        for (const when of ['under', 'after']) {
          t.equal(factsWith(`received ${when} ${kind} ${index}`), 1, `received ${when} the fault once`);
        }
      }),
    ),
  );
});
