// Finds the AT port of a USB device: the first port that answers AT and identifies the modem.
import type { Clock } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import { AtChannel } from '../at/channel.ts';
import { atCommand } from '../at/command.ts';
import type { OpenPort } from '../at/port.ts';
import { isTaken, SessionEndedError } from './recovery/trouble.ts';

/** Ports with another purpose never answer, so the daemon soon tries the next one. */
const ANSWER_ATTEMPTS = 2;
const ANSWER_TIMEOUT_MS = 1_000;
const IMEI_ANSWER = /^(?:\+CGSN: ?)?"?\d{14,16}"?$/;

/** The parts that the search uses. */
interface FindPortParts {
  readonly openPort: OpenPort;
  readonly clock: Clock;
  readonly log: Logger;
  /** After its abort no further port is tried. */
  readonly signal: AbortSignal;
}

/** An AT port and the modem behind it. */
interface FoundPort {
  readonly path: string;
  readonly channel: AtChannel;
  readonly imei: string;
}

/**
 * Tries ports, best first, and closes the wrong ones. Rejects with the system's error if no port can be opened, or if another program has
 * one of them open. Rejects with `SessionEndedError` if no port answers or returns an IMEI.
 */
export async function findPort(paths: readonly string[], parts: FindPortParts): Promise<FoundPort> {
  let failure: unknown;
  for (const [index, path] of paths.entries()) {
    parts.signal.throwIfAborted();
    try {
      const channel = new AtChannel(await parts.openPort(path), parts.clock, parts.log);
      try {
        const imei = await imeiOf(channel);
        await checkNotTaken(paths.slice(index + 1), parts);
        return { path, channel, imei };
      } catch (error) {
        await channel.close(error instanceof Error ? error : new Error(String(error)));
        throw error;
      }
    } catch (error) {
      // Two programs on one modem would each read and delete messages before the other one sees them.
      if (isTaken(error)) throw error;
      parts.log.debug({ err: error, path }, 'not the right port');
      // The error of an opened port is more helpful than that of a port that could not be opened.
      if (!(failure instanceof SessionEndedError)) failure = error;
    }
  }
  throw failure;
}

/** Rejects if another program has one of the ports open. Ignores other problems of the ports. */
async function checkNotTaken(paths: readonly string[], { openPort, signal }: FindPortParts): Promise<void> {
  for (const path of paths) {
    signal.throwIfAborted();
    const port = await openPort(path).catch((error: unknown) => {
      if (isTaken(error)) throw error;
      return undefined;
    });
    await port?.close();
  }
}

async function imeiOf(channel: AtChannel): Promise<string> {
  try {
    await channel.wake(ANSWER_ATTEMPTS, ANSWER_TIMEOUT_MS);
  } catch (cause) {
    throw new SessionEndedError('silent', 'the port did not answer', cause);
  }
  const [answer] = await channel
    .send(atCommand('AT+CGSN', { answer: IMEI_ANSWER }))
    .catch((cause) =>
      Promise.reject(new SessionEndedError('faulty', 'the port did not return an IMEI', cause)),
    );
  const imei = /\d{14,16}/.exec(answer?.line ?? '')?.[0];
  if (imei === undefined) throw new SessionEndedError('faulty', 'the port did not return an IMEI');
  return imei;
}
