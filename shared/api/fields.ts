// The fields that answers of the public API are made of, with what its readers must know of them.
import * as z from 'zod';

const E164 = /^\+[1-9]\d{1,14}$/;

export const numberField = z
  .string()
  .regex(E164)
  .meta({ description: 'The number of the subscription, E.164.', examples: ['+12065550100'] });

/** As the network reported it: a sender can be a short code or a name. */
export const peerField = z
  .string()
  .meta({ description: 'Number of the far end: E.164, a short code or a name.', examples: ['+13105550188'] });

export const destinationField = z
  .string()
  .regex(E164)
  .meta({ description: 'The destination, E.164.', examples: ['+13105550188'] });

export const timeField = z.iso
  .datetime()
  .meta({ description: 'RFC 3339, UTC.', examples: ['2027-01-31T12:00:00.000Z'] });

export const tokenField = z.string().meta({
  description: 'The bearer token. Keep it secret: the service stores only its hash.',
  examples: ['simrack_…'],
});

export const messageBodyField = z.string().meta({ examples: ['Your code is 417209.'] });

export const messageIdField = z
  .string()
  .meta({ description: 'Id of a sent message, as in /sms/messages.', examples: ['sms_9Zk2_17'] });

export const callIdField = z.string().meta({ examples: ['call_2Vq7bYk0'] });

export const cursorField = z
  .string()
  .nullable()
  .meta({ description: 'Pass it as `cursor` for the next page; null on the last one.' });

export const countField = z.number().int().min(0);
