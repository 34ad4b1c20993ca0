// The parts of an operation of the public API.
import type * as z from 'zod';
import type { RefusalCode } from './refusals.ts';

export interface Operation {
  /** OpenAPI's operationId. */
  readonly id: string;
  readonly method: 'get' | 'post' | 'patch' | 'delete';
  readonly path: `/${string}`;
  readonly tag: 'service' | 'subscription' | 'sms' | 'voice' | 'webhooks';
  readonly summary: string;
  readonly description: string;
  /** `bearer`: a token of the subscription. `payment`: a payment takes its place. */
  readonly auth: 'none' | 'bearer' | 'payment';
  /** Its answer is the only copy of something, so it must not be sent without the body (`HEAD`). */
  readonly isClaim?: boolean;
  /** A browser gets a page, and may send a form. */
  readonly hasPage?: boolean;
  /** The answer is constant, so the operation cannot fail. */
  readonly isConstant?: boolean;
  /** The names in braces of its path. */
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType;
  /** The refusal of a missing or wrong field of the body, if it is not `invalid_request`. */
  readonly fieldRefusal?: RefusalCode;
  /** Absent if the answer is 204, without a body. */
  readonly answer?: z.ZodType;
  /** Refusals in addition to those of all operations. */
  readonly refusals: readonly RefusalCode[];
}
