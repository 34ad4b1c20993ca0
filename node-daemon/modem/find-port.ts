// The right port among those of a USB device: the first that answers AT and tells which modem it is.
import type { Clock } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import { AtChannel } from '../at/channel.ts';
import { atCommand } from '../at/command.ts';
import type { OpenPort } from '../at/port.ts';
import { SessionEndedError } from './trouble.ts';

/** A port that belongs to something else never answers: the next one is tried soon. */
const ANSWER_ATTEMPTS = 2;
const ANSWER_TIMEOUT_MS = 1_000;
const IMEI_ANSWER = /^(?:\+CGSN: ?)?"?\d{14,16}"?$/;

/** What is used to try ports. */
export interface FindPortParts {
  readonly openPort: OpenPort;
  readonly clock: Clock;
  readonly log: Logger;
  /** No further port is tried once it is aborted. */
  readonly signal: AbortSignal;
}

/** A port that speaks AT, and the modem behind it. */
export interface FoundPort {
  readonly path: string;
  readonly channel: AtChannel;
  readonly imei: string;
}

/**
 * Tries ports, best first, and closes those that are not the right one. Rejects with the system's error when
 * none can be opened, with `SessionEndedError` when none answers or tells an IMEI.
 */
export async function findPort(paths: readonly string[], parts: FindPortParts): Promise<FoundPort> {
  let failure: unknown;
  for (const path of paths) {
    parts.signal.throwIfAborted();
    try {
      const channel = new AtChannel(await parts.openPort(path), parts.clock, parts.log);
      try {
        return { path, channel, imei: await imeiOf(channel) };
      } catch (error) {
        await channel.close(error instanceof Error ? error : new Error(String(error)));
        throw error;
      }
    } catch (error) {
      parts.log.debug({ err: error, path }, 'not the right port');
      // A port that could be opened says more than one that could not.
      if (!(failure instanceof SessionEndedError)) failure = error;
    }
  }
  throw failure;
}

async function imeiOf(channel: AtChannel): Promise<string> {
  try {
    await channel.wake(ANSWER_ATTEMPTS, ANSWER_TIMEOUT_MS);
  } catch (cause) {
    throw new SessionEndedError('silent', 'the port does not answer', cause);
  }
  const [answer] = await channel
    .send(atCommand('AT+CGSN', { answer: IMEI_ANSWER }))
    .catch((cause) => Promise.reject(new SessionEndedError('faulty', 'the port tells no IMEI', cause)));
  const imei = /\d{14,16}/.exec(answer?.line ?? '')?.[0];
  if (imei === undefined) throw new SessionEndedError('faulty', 'the port tells no IMEI');
  return imei;
}
