// Commands that wait for the line: by priority, bounded, and none waits for ever.

/** Reading a message that was just announced goes first, work that can wait goes last. */
export type Priority = 'urgent' | 'normal' | 'background';

/** Callers wait for answers, so a handful of commands is normal. This many means that the callers do not wait. */
export const QUEUE_LENGTH_MAX = 64;
/** After so many commands of other priorities, one of a lower priority has its turn. */
export const PASSED_OVER_MAX = 8;

const PRIORITIES: readonly Priority[] = ['urgent', 'normal', 'background'];

interface Lane<T> {
  readonly waiting: T[];
  passedOver: number;
}

/** A queue of three lanes with a bound each, so that a flood in one of them refuses nothing in another. */
export class CommandQueue<T> {
  readonly #lanes: Readonly<Record<Priority, Lane<T>>> = {
    urgent: { waiting: [], passedOver: 0 },
    normal: { waiting: [], passedOver: 0 },
    background: { waiting: [], passedOver: 0 },
  };

  /** False when the lane is full. */
  push(item: T, priority: Priority): boolean {
    const { waiting } = this.#lanes[priority];
    if (waiting.length >= QUEUE_LENGTH_MAX) return false;
    waiting.push(item);
    return true;
  }

  /** The next in turn; `undefined` when nothing waits. */
  shift(): T | undefined {
    const lanes = PRIORITIES.map((priority) => this.#lanes[priority]).filter(
      ({ waiting }) => waiting.length > 0,
    );
    const next = lanes.find(({ passedOver }) => passedOver >= PASSED_OVER_MAX) ?? lanes[0];
    for (const lane of lanes) lane.passedOver = lane === next ? 0 : lane.passedOver + 1;
    return next?.waiting.shift();
  }

  /** Takes all out, in the order of their lanes. */
  drain(): T[] {
    return PRIORITIES.flatMap((priority) => this.#lanes[priority].waiting.splice(0));
  }
}
