// Commands that the journal remembers, with an index that finds them for a delivery report. Pure.
import type { SmsOutcome } from '#shared/link/messages.ts';

/**
 * Some 60 MB of memory, 580 to 630 bytes each. It lasts the 7 days for which outcomes are kept at 10 messages a
 * minute for the whole node; 32 modems at 24 a minute fill it in 2.2 hours.
 */
export const COMMANDS_MAX = 100_000;

/** A command that may have been given to a modem. */
export interface CommandState {
  readonly iccid: string;
  readonly to: string;
  /** When it was about to be given, ISO 8601. */
  readonly at: string;
  readonly segments: number;
  /**
   * The system's boot in which the intent was written, as long as all that was written since is there:
   * not known for older programs, nor after a disk that refused.
   */
  readonly boot: string | undefined;
  /** TP-Message-References of the segments that the network took, in order. */
  readonly references: readonly number[];
  /** Parts whose last report came, from 1. */
  readonly reported: readonly number[];
  /** `undefined` while the modem has or will have the command, or had it when the daemon died. */
  readonly outcome: SmsOutcome | undefined;
  /** Digest of the text; only where the sender of the command may send it again. */
  readonly digest?: string;
}

/** The commands, read-only. */
export type ReadonlyCommandMap = ReadonlyMap<string, CommandState> &
  Pick<CommandMap, 'sentAs' | 'inDoubt' | 'open'>;

const NONE: ReadonlySet<string> = new Set();

/** By command id, oldest first; at most `COMMANDS_MAX`, of which those without an outcome stay. */
export class CommandMap extends Map<string, CommandState> {
  /** Ids by SIM and reference. */
  readonly #sent = new Map<string, Set<string>>();
  /** Ids by SIM: without outcome, or with an unknown one. */
  readonly #inDoubt = new Map<string, Set<string>>();
  readonly #open = new Set<string>();

  override set(commandId: string, command: CommandState): this {
    this.#leaveIndexes(commandId);
    super.set(commandId, command);
    for (const reference of command.references) {
      addTo(this.#sent, `${command.iccid}/${reference}`, commandId);
    }
    const status = command.outcome?.status;
    if (status === undefined || status === 'unknown') addTo(this.#inDoubt, command.iccid, commandId);
    // A command that stays open keeps its place.
    if (status === undefined) this.#open.add(commandId);
    else this.#open.delete(commandId);
    if (this.size > COMMANDS_MAX) this.#dropOldest();
    return this;
  }

  override delete(commandId: string): boolean {
    this.#leaveIndexes(commandId);
    this.#open.delete(commandId);
    return super.delete(commandId);
  }

  /** Ids of commands of which a segment went out with this reference; in no order. */
  sentAs(iccid: string, reference: number): ReadonlySet<string> {
    return this.#sent.get(`${iccid}/${reference}`) ?? NONE;
  }

  /** Ids of the SIM's commands whose end is unknown. */
  inDoubt(iccid: string): ReadonlySet<string> {
    return this.#inDoubt.get(iccid) ?? NONE;
  }

  /** Ids of commands without outcome, oldest first. */
  get open(): ReadonlySet<string> {
    return this.#open;
  }

  #leaveIndexes(commandId: string): void {
    const command = this.get(commandId);
    if (command === undefined) return;
    for (const reference of command.references) {
      removeFrom(this.#sent, `${command.iccid}/${reference}`, commandId);
    }
    removeFrom(this.#inDoubt, command.iccid, commandId);
  }

  #dropOldest(): void {
    for (const [commandId, { outcome }] of this) {
      if (outcome === undefined) continue;
      this.delete(commandId);
      return;
    }
  }
}

function addTo(index: Map<string, Set<string>>, key: string, commandId: string): void {
  const ids = index.get(key);
  if (ids === undefined) index.set(key, new Set([commandId]));
  else ids.add(commandId);
}

function removeFrom(index: Map<string, Set<string>>, key: string, commandId: string): void {
  const ids = index.get(key);
  ids?.delete(commandId);
  if (ids?.size === 0) index.delete(key);
}
