// One modem of a host has an ICCID, and one has an IMEI. A second one that reports it, honest or not, would get the PIN and the texts of
// the first.
import type { Clock } from '#shared/clock.ts';

/** Reason of a slot, and alarm of its node: another modem of the host has a card with the same ICCID. */
export const DUPLICATE_ICCID = 'duplicate_iccid';
/** Alarm of a node. */
export const DUPLICATE_IMEI = 'duplicate_imei';

/** After the holder was last seen with it, a modem that was refused waits this long. A modem in recovery is back before. */
const KEPT_MS = 10 * 60_000;

interface Claim {
  holder: ModemClaims;
  /** Time since which the holder does not show it; undefined while it does. */
  leftAt: number | undefined;
  /** These reported it while the holder did, too: one of them lies. */
  readonly refused: Set<ModemClaims>;
}

/** The modems of one host, by what each of them reports of one kind. */
class Claims {
  readonly #clock: Clock;
  readonly #claims = new Map<string, Claim>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Gives a modem this value, in place of its former one. Returns the modem that has it, if it is another. */
  take(value: string, modem: ModemClaims): ModemClaims | undefined {
    const claim = this.#claims.get(value);
    if (claim !== undefined && claim.holder !== modem && !this.#isFree(claim, modem)) {
      this.leave(modem);
      return claim.holder;
    }
    for (const [other, { holder }] of this.#claims) if (holder === modem) this.#claims.delete(other);
    const refused = claim?.holder === modem ? claim.refused : new Set<ModemClaims>();
    this.#claims.set(value, { holder: modem, leftAt: undefined, refused });
    return undefined;
  }

  /** The holder was asked, and still has it. */
  refuse(value: string, modem: ModemClaims): void {
    this.#claims.get(value)?.refused.add(modem);
  }

  /** The modem shows no such value now. It may have moved to a modem that was not refused. */
  leave(modem: ModemClaims): void {
    for (const claim of this.#claims.values()) if (claim.holder === modem) claim.leftAt ??= this.#clock.now();
  }

  #isFree({ leftAt, refused }: Claim, modem: ModemClaims): boolean {
    return leftAt !== undefined && (!refused.has(modem) || this.#clock.now() - leftAt >= KEPT_MS);
  }
}

/** The claims of all modems of one host. */
export class HostClaims {
  readonly iccids: Claims;
  readonly imeis: Claims;

  constructor(clock: Clock) {
    this.iccids = new Claims(clock);
    this.imeis = new Claims(clock);
  }
}

/** The claims of one modem, over all its sessions. */
export class ModemClaims {
  readonly #host: HostClaims;
  readonly #checkSim: () => void;
  /** Cards that another modem had, and read again. */
  readonly #asked = new Set<string>();

  /** `checkSim`: the modem reads its card again soon. */
  constructor(host: HostClaims, checkSim: () => void) {
    this.#host = host;
    this.#checkSim = checkSim;
  }

  /** Returns false if another modem of the host has this IMEI. */
  takeImei(imei: string): boolean {
    const isTaken = this.#host.imeis.take(imei, this) !== undefined;
    if (isTaken) this.#host.imeis.refuse(imei, this);
    return !isTaken;
  }

  /** `wait`: another modem has this card, and reads its own again, because this one may have moved. `refused`: it still has it. */
  takeSim(iccid: string): 'taken' | 'wait' | 'refused' {
    const { iccids } = this.#host;
    const other = iccids.take(iccid, this);
    if (other === undefined) {
      this.#asked.delete(iccid);
      return 'taken';
    }
    if (this.#asked.has(iccid)) {
      iccids.refuse(iccid, this);
      return 'refused';
    }
    this.#asked.add(iccid);
    other.#checkSim();
    return 'wait';
  }

  /** The modem shows no card. */
  leaveSim(): void {
    this.#host.iccids.leave(this);
  }

  /** The modem is away. */
  leave(): void {
    this.leaveSim();
    this.#host.imeis.leave(this);
  }
}
