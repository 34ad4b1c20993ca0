// Reads events from the store once a second: while the bus is away, and when it is back until a read succeeds.
import type { Timer } from '#shared/clock.ts';
import type { Base } from './base.ts';

const EVERY_MS = 1_000;
/** Facts that were on their way when the bus went. */
const BEFORE_MS = 5_000;
/** While the bus is away for long, each read goes back so far: what is older was read many times. */
const BACK_MAX_MS = 10 * 60_000;

/** `read` gets the time from which on events may be missing. The returned function ends it. */
export function catchUp(
  { bus, clock, log }: Pick<Base, 'bus' | 'clock' | 'log'>,
  read: (since: Date) => Promise<void>,
): () => void {
  let awaySince: Date | undefined;
  let next: Timer | undefined;
  let isStopped = false;
  /** A change of the bus begins a new series. */
  let series = 0;
  const round = async (since: Date, own: number): Promise<void> => {
    const isRead = await read(new Date(Math.max(since.getTime(), clock.now() - BACK_MAX_MS))).then(
      () => true,
      (error: unknown) => {
        log.warn({ err: error }, 'reading events that the bus missed failed');
        return false;
      },
    );
    if (own === series && !(isRead && bus.isConnected) && !isStopped)
      next = clock.after(EVERY_MS, () => void round(since, own));
  };
  bus.subscribe((event) => {
    if (event.kind !== 'bus_changed') return;
    next?.cancel();
    const since = awaySince ?? new Date(clock.now() - BEFORE_MS);
    awaySince = event.isConnected ? undefined : since;
    series += 1;
    if (!isStopped) void round(since, series);
  });
  return () => {
    isStopped = true;
    next?.cancel();
  };
}
