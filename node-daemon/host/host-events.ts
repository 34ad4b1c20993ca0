// Distributes the events of one host.
import type { LiveCall } from '#shared/voice/call.ts';
import type { CommandEnd } from '../at/command-end.ts';
import type { RecoveryStep } from '../modem/recovery/recovery.ts';
import type { Trouble } from '../modem/recovery/trouble.ts';

/** Gets the events of a host. */
export interface HostObserver {
  readonly slotsChanged?: () => void;
  readonly portOpened?: (slot: string) => void;
  readonly stepTaken?: (slot: string, step: RecoveryStep, trouble: Trouble) => void;
  readonly stepFailed?: (slot: string, step: RecoveryStep, why: string) => void;
  readonly commandEnded?: (slot: string, end: CommandEnd) => void;
  readonly callChanged?: (call: LiveCall) => void;
}

/** The observers of one host. */
export class HostEvents {
  readonly #observers: HostObserver[] = [];

  add(observer: HostObserver): void {
    this.#observers.push(observer);
  }

  /** Calls `report` with each observer. */
  notify(report: (observer: HostObserver) => void): void {
    for (const observer of this.#observers) report(observer);
  }
}
