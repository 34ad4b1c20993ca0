// The lists that can be filtered, sorted and exported: each with its procedure, its filters and its path.
import type { Context } from 'koa';
import { placeOfText } from '#shared/link/slot.ts';
import type { Listing } from '#shared/operator/listing.ts';
import { SLOT_LIST_STATES, SLOT_STATUS } from '#shared/operator/slot-health.ts';
import { NUMBER_STATES } from '../domain/number-state.ts';
import { SUBSCRIPTION_STATES } from '../domain/subscription.ts';
import { AUDIT_LOG, AUDIT_STATUS } from '../operator/listings/audit-log.ts';
import { COSTS } from '../operator/listings/costs.ts';
import { NUMBER_STATUS, NUMBERS } from '../operator/listings/numbers.ts';
import { ALERTS } from '../operator/listings/operators.ts';
import { PROBES } from '../operator/listings/probes.ts';
import { SLOTS } from '../operator/listings/slots.ts';
import { SUBSCRIPTIONS } from '../operator/listings/subscriptions.ts';
import { TRAFFIC, TRAFFIC_GROUPS } from '../operator/listings/traffic.ts';
import type { Operator, PROCEDURES } from '../operator/procedures/all-procedures.ts';
import { AUDIT_RESULTS, PROBE_KINDS, PROBE_RESULTS } from '../store/database/operation-tables.ts';
import type { FilterField, FilterValues } from './pages/listing.ts';

export interface ConsoleList {
  path: string;
  // biome-ignore lint/suspicious/noExplicitAny: the rows of each list are of another type
  listing: Listing<any>;
  /** The listing with these filters, where it depends on them. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  listingOf?(filters: FilterValues): Listing<any>;
  procedure: keyof typeof PROCEDURES;
  fields: Readonly<Record<string, FilterField>>;
  /** The key of a row as its procedure takes it, and as text in a link. */
  key?: { read(text: string): unknown; write(key: never): string };
}

const CARRIER = { carrier: { label: 'Carrier' } };
const NODE = { node: { label: 'Node' } };
const FIND = { find: { label: 'Contains' } };
const DAYS = { since: { label: 'From', isDay: true }, until: { label: 'Before', isDay: true } } as const;
const POSITION = { read: Number, write: String };

export const LISTS: readonly ConsoleList[] = [
  {
    path: '/slots',
    listing: SLOTS,
    procedure: 'slots',
    fields: {
      state: { label: 'State', values: SLOT_LIST_STATES, words: SLOT_STATUS, isOnTop: true },
      ...CARRIER,
      ...NODE,
      ...FIND,
    },
    key: {
      read: placeOfText,
      write: ({ node, slot }: { node: string; slot: string }) => `${node}/${slot}`,
    },
  },
  {
    path: '/numbers',
    listing: NUMBERS,
    procedure: 'numbers',
    fields: {
      state: { label: 'State', values: NUMBER_STATES, words: NUMBER_STATUS, isOnTop: true },
      ...CARRIER,
      ...NODE,
      ...FIND,
    },
  },
  {
    path: '/subscriptions',
    listing: SUBSCRIPTIONS,
    procedure: 'subscriptions',
    fields: {
      state: { label: 'State', values: SUBSCRIPTION_STATES, isOnTop: true },
      ...CARRIER,
      ...NODE,
      ...FIND,
      ...DAYS,
    },
  },
  {
    path: '/costs',
    listing: COSTS,
    procedure: 'costs',
    fields: { month: { label: 'Month', example: '2026-11' }, ...NODE, ...FIND },
  },
  {
    path: '/traffic',
    listing: TRAFFIC.carrier,
    listingOf: ({ by }) => TRAFFIC[by === 'node' || by === 'slot' ? by : 'carrier'],
    procedure: 'traffic',
    fields: {
      by: { label: 'By', values: TRAFFIC_GROUPS, isOnTop: true, hasDefault: true },
      hours: { label: 'Hours (24)' },
      ...CARRIER,
      ...NODE,
    },
  },
  {
    path: '/probes/all',
    listing: { ...PROBES, title: 'All probes' },
    procedure: 'probes',
    fields: {
      result: { label: 'Result', values: PROBE_RESULTS, isOnTop: true },
      kind: { label: 'Kind', values: PROBE_KINDS },
      ...CARRIER,
      ...NODE,
      slot: { label: 'Slot' },
      ...DAYS,
    },
    key: POSITION,
  },
  {
    path: '/alerts',
    listing: ALERTS,
    procedure: 'alerts',
    fields: { state: { label: 'State', values: ['open', 'ended'], isOnTop: true } },
  },
  {
    path: '/audit',
    listing: AUDIT_LOG,
    procedure: 'auditLog',
    fields: {
      result: { label: 'Result', values: AUDIT_RESULTS, words: AUDIT_STATUS, isOnTop: true },
      actor: { label: 'Actor' },
      ...NODE,
      ...FIND,
      ...DAYS,
    },
    key: POSITION,
  },
];

export const listingWith = ({ listing, listingOf }: ConsoleList, { filters }: ConsoleListQuery) =>
  listingOf?.(filters) ?? listing;

interface ConsoleListQuery {
  filters: FilterValues;
  order: FilterValues;
  after: string | undefined;
}

/** As the link has it: an unknown state or column is left out, and the procedure checks the rest. */
export function listQuery({ fields, listing }: ConsoleList, ctx: Context): ConsoleListQuery {
  const given = new URLSearchParams(ctx.querystring);
  const textOf = (name: string): string | undefined => given.get(name)?.trim() || undefined;
  const filters = Object.entries(fields).map(([name, { values }]) => {
    const value = textOf(name);
    return [name, values === undefined || values.includes(value ?? '') ? value : undefined] as const;
  });
  const sort = listing.columns.find(
    (column) => column.sort !== undefined && column.sort === textOf('sort'),
  )?.sort;
  const order = sort === undefined || textOf('order') !== 'desc' ? undefined : 'desc';
  return { filters: Object.fromEntries(filters), order: { sort, order }, after: textOf('after') };
}

interface RowsOfList {
  rows: readonly never[];
  next: string | null;
}

/** A page of it. Throws `OperatorError` for a filter that the procedure refuses. */
export async function readConsoleList(
  { procedure, key }: ConsoleList,
  operator: Operator,
  { filters, order, after }: ConsoleListQuery,
  limit: number,
): Promise<RowsOfList> {
  const { sort: by } = order;
  const input = {
    ...filters,
    sort: by === undefined ? undefined : { by, isDescending: order['order'] === 'desc' },
    after: after === undefined || key === undefined ? after : key.read(after),
    limit,
  };
  const { rows, next } = (await operator.call(procedure, input as never)) as {
    rows: never[];
    next: unknown;
  };
  const isLast = next === null || next === undefined;
  return { rows, next: isLast ? null : key === undefined ? String(next) : key.write(next as never) };
}
