// One text between two SIMs, from the command to its arrival or timeout.
import type { Clock } from '#shared/clock.ts';
import type { SmsOutcome } from '#shared/link/messages.ts';
import { linkedSignal } from '#shared/process/linked-signal.ts';
import type { Bus } from '../bus/bus.ts';
import { probeText } from '../domain/probe-text.ts';
import type { Fleet } from '../nodes/fleet.ts';
import type { Probe, ProbeOutcome } from '../store/operations/probes.ts';
import { abandoned, failed, notTried } from './outcome.ts';

export interface TextParts {
  fleet: Fleet;
  receipts: ProbeReceipts;
  /** How long the carrier may take to accept the text. */
  sendTimeoutMs: number;
}

/** The node must begin within this part of that time. */
const START_SHARE = 0.5;

/** Causes of 3GPP TS 24.011 annex E-2 about the recipient: unassigned number, destination out of order. */
const RECIPIENTS_FAULT = new Set(['cms_1', 'cms_27', 'cms_28']);

/** The outcome as this instance saw it. If the text arrived, the store already has an outcome, and this one is ignored. */
export async function tryText(
  { fleet, receipts, sendTimeoutMs }: TextParts,
  { id, token, sender, recipient, deadlineAt }: Probe,
  signal: AbortSignal,
): Promise<ProbeOutcome> {
  // It may arrive before the carrier's confirmation.
  const stopped = new AbortController();
  const linked = linkedSignal(signal, stopped.signal);
  const arrived = receipts.wait(id, { until: deadlineAt, signal: linked.signal }).finally(linked.unlink);
  const sent = await fleet
    .reach(sender.node)
    .command(
      'send_sms',
      { iccid: sender.iccid, to: recipient.number, body: probeText(token), segments_max: 1 },
      { id, timeLeftMs: Math.floor(sendTimeoutMs * START_SHARE), timeoutMs: sendTimeoutMs },
    )
    .catch(notTried);
  const outcome = 'result' in sent ? sent : failureBy(sent);
  if (outcome.result === 'abandoned' || outcome.failedEnd === 'sender') stopped.abort();
  await arrived;
  return signal.aborted ? abandoned('the service stopped') : outcome;
}

/** The outcome to report unless the text arrives. */
function failureBy(sent: SmsOutcome): ReturnType<typeof failed> {
  switch (sent.status) {
    case 'accepted':
      return failed('the carrier accepted it, but it did not arrive');
    case 'unknown':
      return failed(`it did not arrive: ${sent.message}`);
    case 'rejected':
      return failed(
        `not sent: ${sent.code}: ${sent.message}`,
        RECIPIENTS_FAULT.has(sent.code) ? 'either' : 'sender',
      );
  }
}

export class ProbeReceipts {
  readonly #clock: Clock;
  readonly #waiting = new Map<string, () => void>();

  constructor(bus: Bus, clock: Clock) {
    this.#clock = clock;
    bus.subscribe((event) => {
      if (event.kind === 'probe_arrived') this.#waiting.get(event.probeId)?.();
    });
  }

  /** Resolves when the probe has arrived, its time is over, or `signal` is aborted. */
  wait(probeId: string, { until, signal }: { until: Date; signal: AbortSignal }): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        timer.cancel();
        signal.removeEventListener('abort', end);
        this.#waiting.delete(probeId);
        resolve();
      };
      const timer = this.#clock.after(Math.max(0, until.getTime() - this.#clock.now()), end);
      signal.addEventListener('abort', end);
      this.#waiting.set(probeId, end);
      if (signal.aborted) end();
    });
  }
}
