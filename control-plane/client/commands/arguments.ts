// Values of options, read from their text.
import { InvalidArgumentError } from 'commander';

export function wholeNumber(text: string): number {
  if (!/^\d{1,6}$/.test(text)) throw new InvalidArgumentError('a whole number is needed');
  return Number(text);
}

export function dateTime(text: string): Date {
  const date = new Date(text);
  if (Number.isNaN(date.getTime())) throw new InvalidArgumentError('a date, as 2027-01-31T12:00:00Z');
  return date;
}

/** Dollars with up to six decimals, in millionths. */
export function dollars(text: string): bigint {
  const match = /^(\d{1,9})(?:\.(\d{1,6}))?$/.exec(text);
  if (match === null) throw new InvalidArgumentError('dollars, as 1800 or 0.50');
  return BigInt((match[1] ?? '') + (match[2] ?? '').padEnd(6, '0'));
}
