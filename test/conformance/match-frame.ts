// Compares a frame that came with one that a scenario says: exactly, but for values that only the run knows.
import { ANY } from './scenarios.ts';

/** The frame with every value that `expected` leaves open set to `ANY`, so that a difference is easy to read. */
export function blankOpenValues(actual: unknown, expected: unknown): unknown {
  if (expected === ANY) return actual === undefined ? undefined : ANY;
  if (Array.isArray(actual) && Array.isArray(expected)) {
    return actual.map((item, index) => blankOpenValues(item, expected[index]));
  }
  if (isObject(actual) && isObject(expected)) {
    return Object.fromEntries(
      Object.entries(actual).map(([key, value]) => [key, blankOpenValues(value, expected[key])]),
    );
  }
  return actual;
}

/** A frame to send: open values get something that fits. */
export function fillOpenValues(frame: unknown, values: Readonly<Record<string, unknown>>): unknown {
  if (Array.isArray(frame)) return frame.map((item) => fillOpenValues(item, values));
  if (!isObject(frame)) return frame;
  return Object.fromEntries(
    Object.entries(frame).map(([key, value]) => [
      key,
      value === ANY ? values[key] : fillOpenValues(value, values),
    ]),
  );
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
