// Events of a node's slots: logged, and stored for later viewing. They are not facts: some of a flood are dropped.
import type { Clock } from '#shared/clock.ts';
import type { SlotEvent } from '#shared/link/messages.ts';
import type { Logger } from '#shared/log.ts';
import type { Bus } from '../bus/bus.ts';
import type { Database } from '../store/database/database.ts';
import { insertEvents } from '../store/fleet/node-links.ts';

/** Events of one link that wait to be written; a rack reports a few per minute. */
const WAITING_MAX = 256;

interface SlotEventsParts {
  db: Database;
  bus: Bus;
  clock: Clock;
  log: Logger;
  nodeId: string;
}

export class SlotEvents {
  readonly #parts: SlotEventsParts;
  #waiting: SlotEvent[] = [];
  #dropped = 0;
  #writing: Promise<void> | undefined;

  constructor(parts: SlotEventsParts) {
    this.#parts = parts;
  }

  put(event: SlotEvent): void {
    if (this.#waiting.length >= WAITING_MAX) {
      this.#dropped += 1;
      return;
    }
    const { slot, kind, detail } = event;
    this.#parts.log.info({ slot, kind, detail }, 'slot event');
    this.#waiting.push(event);
    this.#writing ??= this.#write()
      .catch((error: unknown) => this.#parts.log.warn({ err: error }, 'storing slot events failed'))
      .finally(() => {
        this.#writing = undefined;
      });
  }

  /** Resolves when all events that were taken are written or given up. */
  async idle(): Promise<void> {
    await this.#writing;
  }

  async #write(): Promise<void> {
    const { db, bus, clock, log, nodeId } = this.#parts;
    while (this.#waiting.length > 0) {
      const events = this.#waiting;
      const dropped = this.#dropped;
      this.#waiting = [];
      this.#dropped = 0;
      if (dropped > 0) log.warn({ dropped }, 'slot events dropped: they came too fast');
      await insertEvents(db, nodeId, events, new Date(clock.now()));
      bus.publish({ kind: 'node_changed', nodeId, mayHaveReleased: false });
    }
  }
}
