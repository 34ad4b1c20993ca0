// Waits for a modem to have ports: until it is plugged in, and until it is a modem and no disk.
import type { Logger } from '#shared/log.ts';
import type { OutsideSteps } from './outside-steps.ts';
import type { Place } from './place.ts';
import type { Whereabouts } from './whereabouts.ts';

/** Most systems switch the mode of a stick by themselves, at once. */
const MODE_SWITCH_AFTER_MS = 3_000;
const MODE_SWITCH_RETRY_MS = 10_000;
const MODE_SWITCHES_MAX = 3;

/** Whom to wait for, and what may be done meanwhile. */
export interface ArrivalParts {
  readonly whereabouts: Whereabouts;
  readonly outside: OutsideSteps;
  /** Whether what is there is to be left alone. */
  readonly isRefused: () => boolean;
  /** Told why there is nothing to serve: a word. */
  readonly onAway: (reason: string) => void;
  readonly signal: AbortSignal;
  readonly log: Logger;
}

/** The place once it has ports; `undefined` when the daemon stops. */
export async function untilReachable(parts: ArrivalParts): Promise<Place | undefined> {
  const { isRefused, log, onAway, outside, signal, whereabouts } = parts;
  const isStopping = (): boolean => signal.aborted;
  for (let switches = 0; !isStopping(); ) {
    const { place } = whereabouts;
    if (place !== undefined && place.ports.length > 0 && !isRefused()) return place;
    onAway(place?.reason ?? 'absent');
    const isDisk = place?.reason === 'mass_storage' && switches < MODE_SWITCHES_MAX;
    const switchMode = isDisk ? outside.switchMode : undefined;
    const waitMs = switches === 0 ? MODE_SWITCH_AFTER_MS : MODE_SWITCH_RETRY_MS;
    if (await whereabouts.moves(switchMode === undefined ? undefined : waitMs, signal)) {
      switches = 0;
    } else if (place?.usb !== undefined && !isStopping()) {
      switches += 1;
      log.info({ usbPath: place.usb.path }, 'switching a stick from its disk to its modem');
      await switchMode?.(place.usb).catch((error) => log.warn({ err: error }, 'the mode was not switched'));
    }
  }
  return undefined;
}
