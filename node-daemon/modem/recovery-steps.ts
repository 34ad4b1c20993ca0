// How each step of the recovery ladder is taken.
import type { Clock } from '#shared/clock.ts';
import type { OpenPort } from '../at/port.ts';
import { BlindLine } from './blind-line.ts';
import type { OutsideSteps } from './outside-steps.ts';
import type { Place } from './place.ts';
import type { ModemProfile } from './profiles/profile.ts';
import type { RecoveryStep } from './recovery.ts';

const ESC = '\x1b';
/** A healthy modem answers AT within milliseconds. */
const AWAKE_MS = 1_000;
/** Switching the radio includes leaving the network. */
const RADIO_MS = 15_000;
/** A modem that does not answer gets no more than the time to hear. */
const UNHEARD_MS = 3_000;
/** A modem that restarts without a word takes its port away in this time. */
const LEAVES_MS = 8_000;
/** After a USB reset the modem itself has not restarted; its ports come within this time. */
const REPLUG_MS = 2_000;

/** On what, and with what, a step is taken. */
export interface StepParts {
  readonly place: Place;
  readonly profile: ModemProfile;
  readonly openPort: OpenPort;
  readonly clock: Clock;
  readonly outside: OutsideSteps;
  /** Ends the step early: the daemon stops. */
  readonly signal: AbortSignal;
}

/**
 * Takes a step; resolves with the time in ms for which the modem is to be left alone then. Rejects when the
 * step could not be taken.
 */
export async function takeStep(step: RecoveryStep, parts: StepParts): Promise<number> {
  const { profile, place, outside } = parts;
  switch (step) {
    case 'reopen':
    case 'give_up':
      return 0;
    case 'reinitialise':
      return await withLine(parts, async (line, patienceMs) => {
        await line.say('ATZ', patienceMs);
        await line.say('AT&F', patienceMs);
        return 0;
      });
    case 'radio':
      return await withLine(parts, async (line, patienceMs) => {
        await line.say('AT+CFUN=0', patienceMs);
        await line.say('AT+CFUN=1', patienceMs);
        return 0;
      });
    case 'restart':
      return await withLine(parts, async (line, patienceMs) => {
        const heard = await line.say(profile.restartCommand, Math.min(patienceMs, UNHEARD_MS));
        return heard || (await line.goes(LEAVES_MS)) ? profile.settleMs : 0;
      });
    case 'usb_reset':
      if (place.usb !== undefined) await outside.resetUsb?.(place.usb);
      return REPLUG_MS;
    case 'power_cycle':
      if (place.usb !== undefined) await outside.powerCycle?.(place.usb);
      return profile.settleMs;
  }
}

/** Opens the best port; the command gets more time from a modem that answers. */
async function withLine(
  { clock, openPort, place, signal }: StepParts,
  use: (line: BlindLine, patienceMs: number) => Promise<number>,
): Promise<number> {
  const [first = ''] = place.ports;
  const line = new BlindLine(await openPort(first), clock);
  const onAbort = (): void => void line.close();
  signal.addEventListener('abort', onAbort);
  try {
    const isAwake = await line.say(`${ESC}\rAT`, AWAKE_MS);
    return await use(line, isAwake ? RADIO_MS : UNHEARD_MS);
  } finally {
    signal.removeEventListener('abort', onAbort);
    await line.close();
  }
}
