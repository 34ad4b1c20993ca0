// Metrics of the inventory in the store: numbers, subscriptions, nodes, modems, the waitlist. The same on every instance.
import type { Clock } from '#shared/clock.ts';
import type { Instruments } from '#shared/process/instruments.ts';
import { oncePerScrape } from './scrape-reading.ts';

/** Counts by state. States with a count of 0 may be left out. */
type Counts = ReadonlyMap<string, number>;

/** One reading of the store. */
export interface Inventory {
  payments: Counts;
  numbers: Counts;
  subscriptions: Counts;
  soldNumbers: Counts;
  nodes: Counts;
  modems: Counts;
  waitlist: Counts;
}

const HELP: Readonly<Record<keyof Inventory, readonly [name: string, help: string]>> = {
  payments: ['payments', 'Payments, by state'],
  numbers: ['numbers', 'Numbers, by state; if none is available, nothing can be sold'],
  subscriptions: ['subscriptions', 'Subscriptions, by state: active; expired, in the grace time'],
  soldNumbers: [
    'sold_numbers',
    'Paid numbers, by the state of their service; only registered ones have service',
  ],
  nodes: ['nodes', 'Nodes: linked, away, pending (waits for approval), revoked, not_enrolled'],
  modems: ['modems', 'Slots of linked nodes, by state; node_away counts slots of other nodes'],
  waitlist: ['waitlist_entries', 'Entries of the waitlist, by state: waiting, notified, refused'],
};

/** All states, so that empty ones are shown as 0. */
export type InventoryStates = Readonly<Record<keyof Inventory, readonly string[]>>;

/** `read` is called once per scrape, however many gauges use it. If it does not return in time, the scrape leaves these metrics out. */
export function inventoryMetrics(
  make: Instruments,
  { read, states, clock }: { read: () => Promise<Inventory>; states: InventoryStates; clock: Clock },
): void {
  const readOnce = oncePerScrape(read, clock);
  make.view(
    'database_up',
    '1 if the database responded to this scrape; at 0 the metrics that come from it are missing',
    [],
    async (gauge) => gauge.set(Number((await readOnce()) !== undefined)),
  );
  for (const key of Object.keys(HELP) as (keyof Inventory)[]) {
    const [name, help] = HELP[key];
    make.view(name, help, ['state'], async (gauge) => {
      const counts = (await readOnce())?.[key];
      if (counts === undefined) return;
      for (const state of states[key]) gauge.set({ state }, counts.get(state) ?? 0);
    });
  }
}
