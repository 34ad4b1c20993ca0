// Waits until a modem has ports: until it is plugged in, and until it has left mass-storage mode.
import type { Logger } from '#shared/log.ts';
import type { ModemLocation } from '../slot/location.ts';
import type { Place, UsbPlace } from '../slot/place.ts';
import type { OutsideSteps } from './recovery/outside-steps.ts';

interface Remedy {
  readonly what: string;
  readonly apply: ((usb: UsbPlace) => Promise<void>) | undefined;
  /** The waits before the first attempt and before each later one. */
  readonly waitsMs: readonly [first: number, next: number];
}

const REMEDIES_MAX = 3;

/** The modem to wait for, and the allowed steps. */
interface PortAppearanceParts {
  readonly location: ModemLocation;
  readonly outside: OutsideSteps;
  /** Whether the device must be left alone. */
  readonly isRefused: () => boolean;
  /** Called with the reason why there is no port, as one word. */
  readonly onAway: (reason: string) => void;
  readonly signal: AbortSignal;
  readonly log: Logger;
}

/** Resolves with the place when it has ports, or with `undefined` when the daemon stops. */
export async function untilPortsAppear(parts: PortAppearanceParts): Promise<Place | undefined> {
  const { isRefused, log, onAway, outside, signal, location } = parts;
  const isStopping = (): boolean => signal.aborted;
  for (let tries = 0; !isStopping(); ) {
    const { place } = location;
    if (place !== undefined && place.ports.length > 0 && !isRefused()) return place;
    onAway(place?.reason ?? 'absent');
    const remedy = tries < REMEDIES_MAX && !isRefused() ? remedyFor(place, outside) : undefined;
    const [firstMs, nextMs] = remedy?.waitsMs ?? [];
    if (await location.moves(tries === 0 ? firstMs : nextMs, signal)) {
      tries = 0;
    } else if (place?.usb !== undefined && !isStopping()) {
      tries += 1;
      log.info({ usbPath: place.usb.path, remedy: remedy?.what }, 'a device has no modem ports yet');
      await remedy
        ?.apply?.(place.usb)
        .catch((error) => log.warn({ err: error }, 'failed to make the modem ports appear'));
    }
  }
  return undefined;
}

/** Returns the remedy for a device without ports; `undefined` if the daemon can only wait. */
function remedyFor(place: Place | undefined, outside: OutsideSteps): Remedy | undefined {
  // Most systems switch the mode of a stick by themselves.
  const remedies: Partial<Record<NonNullable<Place['reason']>, Remedy>> = {
    mass_storage: { what: 'mode switch', apply: outside.switchMode, waitsMs: [3_000, 10_000] },
    // A process that was killed during a reset left the device turned off.
    no_port: { what: 'USB reset', apply: outside.resetUsb, waitsMs: [20_000, 60_000] },
  };
  const remedy = place?.reason === undefined ? undefined : remedies[place.reason];
  return remedy?.apply === undefined ? undefined : remedy;
}
