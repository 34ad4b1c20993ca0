// Takes the steps of the recovery ladder.
import type { Clock } from '#shared/clock.ts';
import type { OpenPort } from '../../at/port.ts';
import type { ModemProfile } from '../../profiles/profile.ts';
import type { Place } from '../../slot/place.ts';
import { BlindLine } from './blind-line.ts';
import type { OutsideSteps } from './outside-steps.ts';
import type { RecoveryStep } from './recovery.ts';

const ESC = '\x1b';
/** A healthy modem answers AT within milliseconds. */
const AWAKE_MS = 1_000;
/** Turning the radio off includes leaving the network. */
const RADIO_MS = 15_000;
/** Time for a modem that does not answer to receive the command. */
const UNHEARD_MS = 3_000;
/** At a stop, the last command of a step gets this time to leave the host. */
const STOP_MS = 1_000;
/** The port of a modem that restarts disappears within this time. */
const LEAVES_MS = 8_000;
/** A USB reset does not restart the modem, so its ports appear within this time. */
const REPLUG_MS = 2_000;

/** The target and the tools of a step. */
export interface StepParts {
  readonly place: Place;
  /** The port on which the modem last returned its IMEI. It is tried first. */
  readonly provenPort?: string | undefined;
  readonly profile: ModemProfile;
  readonly openPort: OpenPort;
  readonly clock: Clock;
  readonly outside: OutsideSteps;
  /** Aborted when the daemon stops. Ends the step early. */
  readonly signal: AbortSignal;
}

/** Takes a step. Resolves with the time in ms for which the modem must then be left alone. Rejects if the step failed. */
export async function takeStep(step: RecoveryStep, parts: StepParts): Promise<number> {
  const { profile, place, outside, signal } = parts;
  switch (step) {
    case 'reopen':
    case 'give_up':
      return 0;
    case 'reinitialise':
      return await withLine(parts, async (line, patienceMs) => {
        const heard = [await line.say('ATZ', patienceMs), await line.say('AT&F', patienceMs)];
        if (!heard.includes(true)) throw new Error('the modem did not answer ATZ and AT&F');
        return 0;
      });
    case 'radio':
      return await withLine(parts, async (line, patienceMs) => {
        const isOff = await line.say('AT+CFUN=0', patienceMs);
        // Also at a stop, because a modem without a radio would be useless.
        const isOn = await line.say('AT+CFUN=1', signal.aborted ? STOP_MS : patienceMs);
        if (!isOff && !isOn) throw new Error('the modem did not answer AT+CFUN');
        return 0;
      });
    case 'restart':
      return await withLine(parts, async (line, patienceMs) => {
        const heard = await line.say(profile.restartCommand, Math.min(patienceMs, UNHEARD_MS));
        if (heard || (await line.goes(LEAVES_MS))) return profile.settleMs;
        throw new Error('the modem did not answer, and did not restart');
      });
    case 'usb_reset':
      if (place.usb !== undefined) await outside.resetUsb?.(place.usb);
      return REPLUG_MS;
    case 'power_cycle':
      if (place.usb !== undefined) await outside.powerCycle?.(place.usb);
      return profile.settleMs;
  }
}

/**
 * Uses the first port that answers, or otherwise the first that can be opened, because the modem may still receive.
 * A command gets more time if the modem answers.
 */
async function withLine(
  parts: StepParts,
  use: (line: BlindLine, patienceMs: number) => Promise<number>,
): Promise<number> {
  const { place, provenPort, signal } = parts;
  const isProven = (path: string): boolean => path === provenPort;
  const paths = [...place.ports.filter(isProven), ...place.ports.filter((path) => !isProven(path))];
  let failure: unknown = new Error('the modem has no port');
  let silent: string | undefined;
  for (const path of paths) {
    signal.throwIfAborted();
    try {
      const { isAwake, result } = await withPort(path, parts, async (line) => {
        const isAwake = await line.say(`${ESC}\rAT`, AWAKE_MS);
        return { isAwake, result: isAwake && !signal.aborted ? await use(line, RADIO_MS) : 0 };
      });
      if (isAwake) return result;
      silent ??= path;
    } catch (error) {
      failure = error;
    }
  }
  signal.throwIfAborted();
  if (silent === undefined) throw failure;
  return await withPort(silent, parts, (line) => use(line, UNHEARD_MS));
}

/** Opens a port and closes it after use. At a stop, it waits for nothing more. */
async function withPort<Result>(
  path: string,
  { clock, openPort, signal }: StepParts,
  use: (line: BlindLine) => Promise<Result>,
): Promise<Result> {
  const line = new BlindLine(await openPort(path), clock);
  const onAbort = (): void => line.hurry();
  signal.addEventListener('abort', onAbort);
  try {
    return await use(line);
  } finally {
    signal.removeEventListener('abort', onAbort);
    await line.close();
  }
}
