// What happens on the air and in the slots, as it happens, for whoever listens.

/** What can happen. */
export type AirEventKind =
  | 'sms_submitted'
  | 'sms_waiting'
  | 'sms_delivered'
  | 'sms_deleted'
  | 'fault_set'
  | 'faults_cleared'
  | 'modem_unplugged'
  | 'modem_plugged'
  | 'modem_reset';

/** Something that happened. */
export interface AirEvent {
  /** Counts from 1 since the simulator started. */
  id: number;
  kind: AirEventKind;
  atMs: number;
  /** As it goes over HTTP. */
  data: Record<string, unknown>;
}

/** Tells all listeners of an event. */
export type Publish = (kind: AirEventKind, data: Record<string, unknown>) => void;

/** Numbers events and hands them to listeners, in order, at once. */
export class EventFeed {
  readonly #now: () => number;
  readonly #listeners = new Set<(event: AirEvent) => void>();
  #lastId = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  readonly publish: Publish = (kind, data) => {
    this.#lastId += 1;
    const event: AirEvent = { id: this.#lastId, kind, atMs: this.#now(), data };
    for (const listener of [...this.#listeners]) listener(event);
  };

  /** Returns the function that ends the subscription. Listeners must not throw. */
  subscribe(listener: (event: AirEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
