// The form of an operator's requests. The side that carries out a request checks it, whatever its source.
import * as z from 'zod';
import { E164_PATTERN } from '#shared/e164.ts';

/** A search of all networks takes three minutes. */
export const TIMEOUT_MS_MAX = 180_000;
/** As many as the API allows are enough by hand. */
export const SEGMENTS_MAX = 10;

const slot = z.string().min(1).max(64);
const timeoutMs = z.int().min(100).max(TIMEOUT_MS_MAX).optional();

/** By call. */
export const DESK_INPUTS = {
  slots: z.object({}),
  at: z.object({
    slot,
    command: z
      .string()
      .max(512, 'the command is longer than 512 characters')
      .regex(/^[\x20-\x7e]*$/, 'the command must be one line of printable ASCII')
      .regex(/^\s*at/i, 'the command must begin with AT'),
    unsafe: z.boolean().default(false),
    timeout_ms: timeoutMs,
  }),
  send: z.object({
    slot,
    /** The same id is sent once. */
    id: z.string().regex(/^operator_[\w-]{8,48}$/, 'the id must be one that "send" printed'),
    to: z.string().regex(E164_PATTERN, 'the recipient must be a number such as +12065550123'),
    text: z.string().min(1, 'the text is empty').max(2000, 'the text is longer than 2000 characters'),
  }),
  ussd: z.object({
    slot,
    code: z
      .string()
      .regex(/^[0-9*#+]{1,64}$/, 'the code must have 1 to 64 digits, "*" and "#", such as *100#'),
    /** The answers to the questions of the network, in order. */
    replies: z
      .array(z.string().regex(/^[\x20-\x7e]{1,160}$/, 'a reply must be printable ASCII'))
      .max(10)
      .default([]),
    timeout_ms: timeoutMs,
  }),
  messages: z.object({ slot }),
} as const;

export type DeskCall = keyof typeof DESK_INPUTS;
export type DeskInput<C extends DeskCall> = z.input<(typeof DESK_INPUTS)[C]>;
export type CheckedInput<C extends DeskCall> = z.output<(typeof DESK_INPUTS)[C]>;

export const isDeskCall = (name: string): name is DeskCall => Object.hasOwn(DESK_INPUTS, name);
