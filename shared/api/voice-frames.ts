// The text frames on the WebSockets of calls. Binary frames are audio.
import * as z from 'zod';
import { answererSchema } from '../voice/call.ts';
import { dtmfDigitsSchema } from '../voice/media.ts';
import { causeSchema, endReasonSchema } from '../voice/release-cause.ts';
import { callIdField, countField, numberField, peerField, timeField } from './fields.ts';

/** Clients that want text frames ask for this subprotocol. */
export const VOICE_SUBPROTOCOL = 'voice.v1';

/** Values of `protocol` in the query of a stream; `raw` if it is absent. */
export const STREAM_PROTOCOLS = ['raw', 'twilio', 'vonage'] as const;
export type StreamProtocol = (typeof STREAM_PROTOCOLS)[number];

const MARK_FORM = 'must have 1 to 256 characters';
const markNameField = z.string(MARK_FORM).min(1, MARK_FORM).max(256, MARK_FORM);

const keyField = z.string().regex(/^[0-9*#A-D]$/);

/** From a client on the stream of a call. */
export const clientFrameSchema = z.union([
  z
    .object({ type: z.literal('clear') })
    .meta({ description: 'Discards audio that was not played, so that the far end can interrupt.' }),
  z
    .object({ type: z.literal('mark'), name: markNameField })
    .meta({ description: 'A mark. The service sends it back when all audio before it was played.' }),
  z
    .object({ type: z.literal('dtmf'), digits: dtmfDigitsSchema })
    .meta({ description: 'Presses keys: 1 to 32 of 0-9, *, # and A-D.' }),
  z
    .object({
      type: z.literal('hangup'),
      when: z.enum(['now', 'played'], 'must be now or played').default('now'),
    })
    .meta({
      description:
        'Hangs up, now or when the far end has heard all audio that was sent before. The client may close the stream after it.',
    }),
  /** The same as `clear`, as clients of Vonage send it. */
  z
    .object({ action: z.literal('clear') })
    .transform(() => ({ type: 'clear' as const }))
    .meta({ description: 'The same as `{"type": "clear"}`.' }),
]);

/** Describes the error in a frame that `clientFrameSchema` refuses. */
export function wrongFieldOf({ issues: [issue] }: z.ZodError): { field: string; message: string } {
  // The issues of the frame with this type, if there is one. They are not in a union when only that frame fits.
  const isNamed = ({ path: [first] }: z.core.$ZodIssue): boolean => first !== 'type' && first !== 'action';
  const own = issue?.code === 'invalid_union' ? issue.errors.find((all) => all.every(isNamed))?.[0] : issue;
  const field = own?.path.join('.') ?? '';
  return own === undefined || field === ''
    ? { field: 'type', message: '"type" must be clear, mark, dtmf or hangup' }
    : { field, message: `"${field}" ${own.message}` };
}

/** To a client on the stream of a call, where it asked for `voice.v1`. */
export const serverFrameSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('answered') }).meta({ description: 'The call is answered.' }),
  z
    .object({ type: z.literal('mark'), name: markNameField })
    .meta({ description: 'All audio before this mark was played.' }),
  z
    .object({
      type: z.literal('cleared'),
      played_ms: countField.meta({
        description: 'Milliseconds that the far end heard since the last clear.',
      }),
      dropped_ms: countField.meta({ description: 'Milliseconds that were dropped.' }),
      marks: z.array(markNameField).readonly().meta({ description: 'Marks that were not reached.' }),
    })
    .meta({ description: 'The answer to `clear`.' }),
  z.object({ type: z.literal('answered_by'), answered_by: answererSchema }).meta({
    description: 'A person or a machine answered. Only of a call that was dialed with `detect_machine`.',
  }),
  z.object({ type: z.literal('dtmf'), digit: keyField }).meta({ description: 'The far end pressed a key.' }),
  z
    .object({
      type: z.literal('overflow'),
      dropped_ms: countField.meta({
        description: 'Milliseconds that were dropped since the last such message.',
      }),
    })
    .meta({
      description: 'The client sent too far ahead: the oldest audio was dropped. Sent once a second at most.',
    }),
  z
    .object({
      type: z.literal('error'),
      message: z.string(),
      field: z.string().optional().meta({ description: 'The wrong field of the frame.' }),
    })
    .meta({ description: 'The service did not understand the last text frame.' }),
]);
export type ServerFrame = z.input<typeof serverFrameSchema>;
export type ClientFrame = z.input<typeof clientFrameSchema>;

const presenceFields = {
  call_id: callIdField,
  direction: z.enum(['inbound', 'outbound']),
  caller: peerField.nullable(),
  phone_number: numberField,
  stream_url: z.url(),
  at: timeField,
};

export const ringingEventSchema = z
  .object({ kind: z.literal('ringing'), ...presenceFields })
  .meta({ description: 'An inbound call rings.' });

export const answeredEventSchema = z
  .object({ kind: z.literal('answered'), ...presenceFields })
  .meta({ description: 'The call was answered.' });

const detectedEventSchema = z
  .object({ kind: z.literal('detected'), ...presenceFields, answered_by: answererSchema })
  .meta({ description: 'It was judged who answered. Only of a call that was dialed with `detect_machine`.' });

export const endedEventSchema = z
  .object({
    kind: z.literal('ended'),
    ...presenceFields,
    reason: endReasonSchema,
    cause: causeSchema.meta({ description: 'Cause of ITU-T Q.850.' }),
    duration_ms: countField.meta({ description: 'Duration of the conversation; 0 without one.' }),
    answered_by: answererSchema.nullable().optional().meta({
      description:
        'A person or a machine; null if the call was not answered. Only of a call that was dialed with `detect_machine`.',
    }),
  })
  .meta({ description: 'The call has ended.' });

/** To watchers of a number. */
export const presenceEventSchema = z.discriminatedUnion('kind', [
  ringingEventSchema,
  answeredEventSchema,
  detectedEventSchema,
  endedEventSchema,
]);
export type PresenceEvent = z.input<typeof presenceEventSchema>;
