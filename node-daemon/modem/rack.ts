// All slots of the host.
import type { Slot } from '#shared/link/messages.ts';
import type { Modem } from './modem.ts';

/** Slot states whose SIM was seen a moment ago, unlike that of a lost modem. */
function isPresent({ slot }: Modem): boolean {
  return slot.state !== 'lost';
}

/** The slots of one host, together. */
export class Rack {
  readonly #modems: readonly Modem[];

  constructor(modems: readonly Modem[]) {
    this.#modems = modems;
  }

  start(): void {
    for (const modem of this.#modems) modem.start();
  }

  async stop(): Promise<void> {
    await Promise.all(this.#modems.map((modem) => modem.stop()));
  }

  /** Every slot. A SIM that moved is only in its new one, though the old one cannot see that it left. */
  slots(): Slot[] {
    const present = new Set(this.#modems.filter(isPresent).map(({ slot }) => slot.iccid));
    return this.#modems.map((modem) => {
      const { slot } = modem;
      const moved = !isPresent(modem) && slot.iccid !== null && present.has(slot.iccid);
      return moved ? { ...slot, iccid: null, number: null } : slot;
    });
  }

  /** The modem that holds the SIM, one that answers before one that is lost. */
  find(iccid: string): Modem | undefined {
    const holders = this.#modems.filter(({ slot }) => slot.iccid === iccid);
    return holders.find(isPresent) ?? holders[0];
  }
}
