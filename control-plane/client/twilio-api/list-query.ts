// The parameters that all lists have: pages, and times.
import type { Fields } from './fields.ts';
import { invalid } from './refusal.ts';

export const LIST_FIELDS = ['PageSize', 'Page', 'PageToken'];

const PAGE_SIZE = 50;
const PAGE_SIZE_MAX = 1_000;
const DAY_MS = 86_400_000;

export interface TwilioListQuery {
  pageSize: number;
  page: number;
  token: string | undefined;
}

/** Throws `TwilioRefusal`. */
export const twilioPageOf = (fields: Fields): TwilioListQuery => ({
  pageSize: fields.whole('PageSize', { min: 1, max: PAGE_SIZE_MAX }) ?? PAGE_SIZE,
  page: fields.whole('Page', { min: 0, max: 999_999 }) ?? 0,
  token: fields.get('PageToken'),
});

/** The period of `Name` (a day), `Name>` and `Name<`, both inclusive. Throws `TwilioRefusal`. */
export function timesOf(fields: Fields, name: string): { since?: string; until?: string } {
  const day = timeOf(fields, name);
  if (day !== undefined) {
    const start = Math.floor(day / DAY_MS) * DAY_MS;
    return { since: new Date(start).toISOString(), until: new Date(start + DAY_MS - 1).toISOString() };
  }
  const [since, until] = [timeOf(fields, `${name}>`), timeOf(fields, `${name}<`)];
  return {
    ...(since === undefined ? {} : { since: new Date(since).toISOString() }),
    ...(until === undefined ? {} : { until: new Date(until).toISOString() }),
  };
}

/** A period that ends before it begins: Twilio lists nothing then, and the service refuses it. */
export const isEmptyPeriod = (since: string | undefined, until: string | undefined): boolean =>
  since !== undefined && until !== undefined && Date.parse(since) > Date.parse(until);

/** Milliseconds since the Unix epoch: a date, or a time. */
function timeOf(fields: Fields, name: string): number | undefined {
  const text = fields.get(name);
  if (text === undefined) return undefined;
  const time = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(time)) throw invalid(20_001, `${name} must be a date such as 2027-01-31, or a time`);
  return time;
}
