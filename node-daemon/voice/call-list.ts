// Lists the calls of a modem, and ends all of them.
import { type Clock, sleep } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import { ask } from '../at/ask.ts';
import type { AtChannel } from '../at/channel.ts';
import { atCommand, withPrefix } from '../at/command.ts';
import { causeOfReport, type ListedCall, listedCalls } from '../profiles/call-event.ts';

const LIST = atCommand('AT+CLCC', { answer: withPrefix('+CLCC:') });
/** 3GPP TS 27.007 §6.5, and V.250 §6.3.6 for modems that do not support it. */
const HANG_UP = atCommand('AT+CHUP', { timeoutMs: 5_000 });
const HANG_UP_ALSO = atCommand('ATH');
/** 3GPP TS 27.007 §6.10. */
const CAUSE_REPORT = atCommand('AT+CEER', { answer: withPrefix('+CEER:') });

/** A hang-up without effect is repeated. After this many attempts the modem is set up again. */
const HANG_UP_ATTEMPTS = 3;
const HANG_UP_PAUSE_MS = 300;

const LIST_ATTEMPTS = 3;
const LIST_PAUSE_MS = 300;

/** The modem did not end its calls. It must be set up again. */
export class HangUpFailedError extends Error {
  override name = 'HangUpFailedError';
}

/** Resolves with the voice calls of a modem; undefined if it answers with an error, as a busy one does. Rejects if it does not answer. */
export async function listCalls(channel: AtChannel): Promise<ListedCall[] | undefined> {
  const lines = await ask(channel, LIST, 'urgent');
  return lines && listedCalls(lines);
}

/** As `listCalls`; asks a busy modem again. None if it always answers with an error: it may not support the command. */
async function listCallsOfBusy(channel: AtChannel, clock: Clock): Promise<ListedCall[]> {
  for (let attempt = 1; attempt <= LIST_ATTEMPTS; attempt += 1) {
    const calls = await listCalls(channel);
    if (calls !== undefined) return calls;
    await sleep(clock, LIST_PAUSE_MS);
  }
  return [];
}

/** Rings, and may be answered. */
const isIncoming = ({ state }: ListedCall): boolean => state === 'incoming' || state === 'waiting';

/**
 * Ends the calls that an earlier process or session left. They have no owner, and cost money. A caller who rings goes on ringing: resolves
 * with whether there is one.
 */
export async function endLeftCalls(channel: AtChannel, clock: Clock, log: Logger): Promise<boolean> {
  const calls = await listCallsOfBusy(channel, clock);
  const left = calls.filter((call) => !isIncoming(call));
  if (left.length > 0) {
    log.warn({ calls: left.length }, 'ending calls that an earlier session left');
    await hangUpAll(channel, clock, isIncoming);
  }
  return left.length < calls.length;
}

/** Resolves with the cause of the last call's end (ITU-T Q.850), if the modem reports it. */
export async function askCause(channel: AtChannel): Promise<number | undefined> {
  const lines = await ask(channel, CAUSE_REPORT, 'urgent').catch(() => undefined);
  return lines?.map(causeOfReport).find((cause) => cause !== undefined);
}

/**
 * Ends all calls. If the modem keeps one, closes the channel and rejects with `HangUpFailedError`. One that `isAnother` may have begun to
 * ring meanwhile, and is left.
 */
export async function hangUpAll(
  channel: AtChannel,
  clock: Clock,
  isAnother: (call: ListedCall) => boolean,
): Promise<void> {
  for (let attempt = 1; attempt <= HANG_UP_ATTEMPTS; attempt += 1) {
    const isTaken = await channel.send(HANG_UP, 'urgent').then(
      () => true,
      () => false,
    );
    if (!isTaken) await ask(channel, HANG_UP_ALSO, 'urgent').catch(() => undefined);
    const left = await listCalls(channel).catch(() => undefined);
    if (left === undefined ? isTaken : left.every(isAnother)) return;
    await sleep(clock, HANG_UP_PAUSE_MS * attempt);
  }
  const failure = new HangUpFailedError('the modem did not hang up');
  await channel.close(failure);
  throw failure;
}
