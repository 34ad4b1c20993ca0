// The queue of commands that wait for the modem: by priority, bounded, and without starvation.

/** `urgent`: reading a newly announced message. `background`: work that can wait. */
export type Priority = 'urgent' | 'normal' | 'background';

/** Callers wait for answers, so a handful of commands is normal. This many show that callers do not wait. */
export const QUEUE_LENGTH_MAX = 64;
/** After this many commands of higher priorities, one of a lower priority gets its turn. */
export const PASSED_OVER_MAX = 8;

const PRIORITIES: readonly Priority[] = ['urgent', 'normal', 'background'];

interface Lane<T> {
  readonly waiting: T[];
  passedOver: number;
}

/** A queue of three bounded lanes, so that a flood in one of them fills no other. */
export class CommandQueue<T> {
  readonly #lanes: Readonly<Record<Priority, Lane<T>>> = {
    urgent: { waiting: [], passedOver: 0 },
    normal: { waiting: [], passedOver: 0 },
    background: { waiting: [], passedOver: 0 },
  };

  /** Returns false if the lane is full. */
  push(item: T, priority: Priority): boolean {
    const { waiting } = this.#lanes[priority];
    if (waiting.length >= QUEUE_LENGTH_MAX) return false;
    waiting.push(item);
    return true;
  }

  /** Removes and returns the next command; `undefined` if the queue is empty. */
  shift(): T | undefined {
    const lanes = PRIORITIES.map((priority) => this.#lanes[priority]).filter(
      ({ waiting }) => waiting.length > 0,
    );
    const next = lanes.find(({ passedOver }) => passedOver >= PASSED_OVER_MAX) ?? lanes[0];
    for (const lane of lanes) lane.passedOver = lane === next ? 0 : lane.passedOver + 1;
    return next?.waiting.shift();
  }

  /** Removes a waiting command. Returns false if it no longer waits. */
  remove(item: T): boolean {
    for (const { waiting } of Object.values(this.#lanes)) {
      const position = waiting.indexOf(item);
      if (position >= 0) return waiting.splice(position, 1).length > 0;
    }
    return false;
  }

  /** Removes and returns all commands, in the order of their lanes. */
  drain(): T[] {
    return PRIORITIES.flatMap((priority) => this.#lanes[priority].waiting.splice(0));
  }
}
