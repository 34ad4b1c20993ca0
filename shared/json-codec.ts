// Times and amounts in JSON, and as programs have them.
import * as z from 'zod';

/** A time. */
export const timeOutput = z.codec(z.iso.datetime(), z.date(), {
  decode: (text) => new Date(text),
  encode: (date) => date.toISOString(),
});

/** An amount. */
export const bigintOutput = z.codec(z.string(), z.bigint(), { decode: BigInt, encode: String });
