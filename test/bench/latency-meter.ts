// How long a message takes from the modem's +CMTI to the commit of the row that can be claimed.
import { Client } from 'pg';
import { until } from '../fixtures/until.ts';
import type { SimulatedRack } from './modems/simulated-rack.ts';

const TAKE_TIMEOUT_MS = 60_000;

export interface LatencyMeter {
  /** Milliseconds of each of the `count` messages since the last call. Waits for all of them. */
  take(count: number): Promise<number[]>;
  close(): Promise<void>;
}

/**
 * Pairs two instants of one machine's clock: the simulator's event as it raises +CMTI (whole
 * milliseconds), and Postgres' notification of the commit that made the row claimable.
 */
export async function latencyMeter(rack: SimulatedRack, databaseUrl: string): Promise<LatencyMeter> {
  const listener = new Client({ connectionString: databaseUrl });
  await listener.connect();
  await listener.query(`
    create function report_insert() returns trigger language plpgsql as
      $$ begin perform pg_notify('inserted', new.to_number || ' ' || new.id); return new; end $$;
    create trigger report_insert after insert on messages for each row execute function report_insert();
    listen inserted`);
  listener.on('error', () => undefined);
  // Equal notifications of one transaction are sent once, so each has the row's id. Of one number the
  // order is kept, so its nth +CMTI and its nth row are the same message.
  const raised = new Times();
  const committed = new Times();
  listener.on('notification', ({ payload }) => committed.note(String(payload?.split(' ')[0]), Date.now()));
  const events = await rack.onAnnounced(({ number }, atMs) => raised.note(number, atMs));
  return {
    async take(count) {
      await until(
        'all rows are committed',
        () => committed.total >= count && raised.total >= count,
        TAKE_TIMEOUT_MS,
      );
      const latencies = [...raised.byNumber].flatMap(([number, times]) =>
        times.map((at, index) => (committed.byNumber.get(number)?.[index] ?? Number.NaN) - at),
      );
      raised.clear();
      committed.clear();
      return latencies;
    },
    async close() {
      events.close();
      await listener.end();
    },
  };
}

class Times {
  readonly byNumber = new Map<string, number[]>();
  total = 0;

  note(number: string, atMs: number): void {
    const times = this.byNumber.get(number);
    if (times === undefined) this.byNumber.set(number, [atMs]);
    else times.push(atMs);
    this.total += 1;
  }

  clear(): void {
    this.byNumber.clear();
    this.total = 0;
  }
}
