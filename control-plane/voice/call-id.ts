// The id of a call in subjects of the bus, and in the refusal of an unknown one.
import { createHash } from 'node:crypto';
import { Refusal } from '../domain/refusal.ts';

/** Hashed: the id of an inbound call is the node's word. */
export const callSubject = (prefix: string, callId: string): string =>
  `${prefix}.${createHash('sha256').update(callId).digest('hex').slice(0, 32)}`;

export const callNotFound = (callId: string): Refusal =>
  new Refusal('call_not_found', 'The call does not exist or has ended.', { details: { call_id: callId } });
