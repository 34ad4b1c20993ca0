// The commands in the journal, with an index that finds the command of a delivery report. Pure.
import type { SmsOutcome } from '#shared/link/messages.ts';

/**
 * About 60 MB of memory, 580 to 630 bytes each. Enough for 7 days, the time for which outcomes are kept, at 10 messages
 * per minute for the whole node. 32 modems with 24 messages per minute fill it in 2.2 hours.
 */
export const COMMANDS_MAX = 100_000;

/** A command that may have reached a modem. */
export interface CommandState {
  readonly iccid: string;
  readonly to: string;
  /** Time of the intent, ISO 8601. */
  readonly at: string;
  readonly segments: number;
  /**
   * The system's boot in which the intent was written, as long as no later record is lost. Unknown after the disk
   * refused a write.
   */
  readonly boot: string | undefined;
  /** TP-Message-References of the segments that the network accepted, in order. */
  readonly references: readonly number[];
  /** Parts, from 1, whose final delivery report came. */
  readonly reported: readonly number[];
  /** `undefined` until the modem is done with the command, or if the daemon was killed before. */
  readonly outcome: SmsOutcome | undefined;
  /** Digest of the text; only if the sender of the command may send it again. */
  readonly digest?: string;
}

/** The commands, read-only. */
export type ReadonlyCommandMap = ReadonlyMap<string, CommandState> &
  Pick<CommandMap, 'sentAs' | 'inDoubt' | 'open'>;

const NONE: ReadonlySet<string> = new Set();

/** Commands by id, oldest first; at most `COMMANDS_MAX`. Commands without an outcome are never removed. */
export class CommandMap extends Map<string, CommandState> {
  /** Command ids by SIM and reference. */
  readonly #sent = new Map<string, Set<string>>();
  /** Ids by SIM of commands without an outcome, or with an unknown one. */
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
    // A command without an outcome keeps its place.
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

  /** Returns the ids of commands with a segment that has this reference, in no order. */
  sentAs(iccid: string, reference: number): ReadonlySet<string> {
    return this.#sent.get(`${iccid}/${reference}`) ?? NONE;
  }

  /** Returns the ids of the SIM's commands whose result is unknown. */
  inDoubt(iccid: string): ReadonlySet<string> {
    return this.#inDoubt.get(iccid) ?? NONE;
  }

  /** Returns the ids of commands without an outcome, oldest first. */
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
