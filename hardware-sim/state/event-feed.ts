// Events on the air and in the slots, for clients that follow them live.
import { BoundedLog } from './bounded-log.ts';

/** Kinds of events. */
export type AirEventKind =
  | 'sms_submitted'
  | 'sms_waiting'
  | 'sms_delivered'
  | 'sms_announced'
  | 'sms_listed'
  | 'sms_deleted'
  | 'fault_set'
  | 'fault_cured'
  | 'faults_cleared'
  | 'modem_unplugged'
  | 'modem_plugged'
  | 'modem_reset'
  | 'sim_changed'
  | 'call_dialling'
  | 'call_alerting'
  | 'call_answered'
  | 'call_ended'
  | 'dtmf';

export interface AirEvent {
  /** Counts from 1 since the simulator started. */
  id: number;
  kind: AirEventKind;
  atMs: number;
  /** As it goes over HTTP. */
  data: Record<string, unknown>;
}

/** Publishes an event to all listeners. */
export type Publish = (kind: AirEventKind, data: Record<string, unknown>) => void;

/** Numbers events, keeps the last ones, and notifies listeners of new ones. */
export class EventFeed {
  readonly #now: () => number;
  readonly #events: BoundedLog<AirEvent>;
  readonly #listeners = new Set<() => void>();
  #lastId = 0;

  constructor(now: () => number, keep: number) {
    this.#now = now;
    this.#events = new BoundedLog(keep);
  }

  get lastId(): number {
    return this.#lastId;
  }

  readonly publish: Publish = (kind, data) => {
    this.#lastId += 1;
    this.#events.push({ id: this.#lastId, kind, atMs: this.#now(), data });
    for (const listener of this.#listeners) listener();
  };

  /** Events behind an id that are still kept, oldest first, at most `limit`. */
  after(id: number, limit: number): AirEvent[] {
    return this.#events.after(id, limit);
  }

  /** Returns the function that ends the subscription. Listeners must not throw. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
