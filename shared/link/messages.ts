// The messages between node and control plane: facts, events, commands. Shapes only; frames are in frame.ts.
import * as z from 'zod';
import { e164Schema, iccidSchema } from '../identities.ts';
import { callEndedSchema, callIdSchema, type DialOutcome } from '../voice/call.ts';
import { SEALED_PIN_LENGTH_MAX } from './pin-seal.ts';
import { slotNameSchema } from './slot.ts';

const timestampSchema = z.iso.datetime({ offset: true });

/** Most UTF-16 units of a text. */
export const BODY_MAX = 40_000;

/** The outcome of an SMS that the modem was asked to send. */
export const smsOutcomeSchema = z.discriminatedUnion('status', [
  /** The carrier accepted all segments. */
  z.object({
    status: z.literal('accepted'),
    /** TP-Message-Reference of each segment, in order (3GPP TS 23.040 §9.2.3.6). */
    message_references: z.array(z.number().int().min(0).max(255)).min(1).max(255),
    at: timestampSchema,
  }),
  /** The carrier or the modem rejected it. */
  z.object({
    status: z.literal('rejected'),
    /** `cms_<n>`, `cme_<n>` or a word. */
    code: z.string().max(64),
    /** `retry`: a new command may work soon. `wait`: only after the SIM or modem is repaired. `final`: never. */
    class: z.enum(['retry', 'wait', 'final']).optional(),
    message: z.string().max(512),
    at: timestampSchema,
  }),
  /** The outcome is unknown: the modem may have sent it. */
  z.object({
    status: z.literal('unknown'),
    message: z.string().max(512),
    at: timestampSchema,
  }),
]);
export type SmsOutcome = z.infer<typeof smsOutcomeSchema>;

/**
 * Facts that a node takes from one modem at once, and in a second in the long run: more than a network delivers. Messages beyond that stay on the
 * SIM and in the network, and calls ring unreported. The control plane reads no more of one SIM.
 */
export const MODEM_FACTS = {
  messages: { burst: 3_000, perSecond: 1 },
  calls: { burst: 200, perSecond: 0.25 },
};

/** Events in the journal of the node. The node sends them until the control plane acknowledges them. */
export const factSchema = z.discriminatedUnion('kind', [
  /** An SMS arrived. */
  z.object({
    kind: z.literal('sms_received'),
    iccid: iccidSchema,
    /** Sender: E.164 if it is an international number, otherwise as received (short code, name). */
    from: z.string().max(32),
    /** Text of the message. */
    body: z.string().max(BODY_MAX),
    /** Time stamp of the service center, with its zone; null if it is invalid. */
    sent_at: timestampSchema.nullable(),
    /** When the node read it. */
    received_at: timestampSchema,
    /** A sweep at this time did not find it, so it arrived later. Absent if the node cannot know. */
    arrived_after: timestampSchema.optional(),
    /** True if parts of a long message never arrived. */
    partial: z.boolean(),
    /** Set for the announcement of an MMS, which the node does not fetch. `body` is a sentence of the node. */
    mms: z
      .object({
        /** X-Mms-Transaction-ID: the carrier may announce one MMS several times. */
        transaction_id: z.string().min(1).max(128),
        size_bytes: z.int32().min(0).nullable(),
        /** Until when the carrier keeps it. */
        expires_at: timestampSchema.nullable(),
      })
      .optional(),
  }),
  /** A TPDU that the node could not decode. */
  z.object({
    kind: z.literal('sms_unreadable'),
    iccid: iccidSchema,
    /** Hexadecimal, as the modem returned it. */
    pdu: z.string().max(1024),
    reason: z.string().max(512),
    received_at: timestampSchema,
  }),
  /** The outcome of a `send_sms` command. */
  z.object({
    kind: z.literal('sms_outcome'),
    command_id: z.string().min(1).max(64),
    outcome: smsOutcomeSchema,
  }),
  /** A delivery report. */
  z.object({
    kind: z.literal('sms_report'),
    iccid: iccidSchema,
    /** The command that sent the message, if the node could match the reference. */
    command_id: z.string().max(64).nullable(),
    message_reference: z.number().int().min(0).max(255),
    recipient: z.string().max(32),
    /** Segment that the report is about, counted from 1. */
    part: z.number().int().min(1).max(255).default(1),
    parts: z.number().int().min(1).max(255).default(1),
    status: z.enum(['delivered', 'pending', 'failed', 'expired']),
    /** TP-Status octet (3GPP TS 23.040 §9.2.3.15). */
    tp_status: z.number().int().min(0).max(255),
    at: timestampSchema,
  }),
  callEndedSchema,
]);
export type Fact = z.infer<typeof factSchema>;
export type FactOf<K extends Fact['kind']> = Extract<Fact, { kind: K }>;

/** An event of a slot for operators. Sent while the link is up and not stored; it is not a fact. */
export const slotEventSchema = z.object({
  slot: slotNameSchema,
  /** A word such as "recovery_step". */
  kind: z.string().min(1).max(64),
  detail: z.string().max(512),
  at: timestampSchema,
});
export type SlotEvent = z.infer<typeof slotEventSchema>;

/** Alarms of the whole node, words such as "journal_unavailable". */
export const alarmsSchema = z.array(z.string().min(1).max(64)).max(32);

/** Facts that the control plane has not acknowledged; absent if the node does not report it. */
export const journalDepthSchema = z.int32().min(0).optional();

/** Parameters of each command. */
export const commandSchemas = {
  /** Asks the node to confirm that it has the SIM and serves its number. Result: `{}`. */
  bind_sim: z.object({ iccid: iccidSchema }),
  /** Sends one SMS once. Result: an outcome of `send_sms`, the same for every repetition of the command id. */
  send_sms: z.object({
    iccid: iccidSchema,
    to: e164Schema,
    body: z.string().min(1).max(BODY_MAX),
    /** More segments than this are refused as `params_invalid`. */
    segments_max: z.number().int().min(1).max(255),
  }),
  /**
   * Places a call. Result: `ringing`, `active` or `ended`, as soon as the far end rings, answers or will do neither.
   * Refused as `line_busy` if the SIM already has a call.
   */
  dial: z.object({ call_id: callIdSchema, iccid: iccidSchema, to: e164Schema }),
  /** Answers a ringing call. Result: `{}`, once the modem confirms. */
  answer: z.object({ call_id: callIdSchema }),
  /** Ends a call, or rejects a ringing one. Result: `{}`, once the modem confirms. */
  hang_up: z.object({ call_id: callIdSchema, reason: z.enum(['local_hangup', 'abandoned']) }),
  /** Opens a media link for a call and replaces the existing one. Result: `{}`, once it is open. */
  open_media: z.object({
    call_id: callIdSchema,
    /** Base URL of the instance; null for that of the control link. */
    base_url: z
      .url({ protocol: /^https?$/ })
      .max(512)
      .nullable(),
    /** Ticket for one upgrade. */
    ticket: z.string().min(16).max(128),
  }),
  /**
   * Restarts the modem of a slot. Result: `{}`, once the restart begins. Refused as `line_busy` while a call is up, unless
   * `force` is true.
   */
  restart_modem: z.object({ slot: slotNameSchema, force: z.boolean() }),
  /**
   * Gives the node the PIN of a card that is locked. Result: `{}`, once the node has the PIN; the slot then shows what the card answered.
   * Refused as `slot_unavailable` if no slot waits for a PIN of this card.
   */
  unlock_sim: z.object({
    iccid: iccidSchema,
    /** A file of age for the `pin_key` of `hello`, base64. It contains `{iccid, pin}` as JSON. */
    sealed_pin: z.base64().max(SEALED_PIN_LENGTH_MAX),
  }),
} as const;

export type CommandName = keyof typeof commandSchemas;
export type CommandParams<N extends CommandName> = z.infer<(typeof commandSchemas)[N]>;

export interface CommandResults {
  bind_sim: Record<string, never>;
  send_sms: SmsOutcome;
  dial: DialOutcome;
  answer: Record<string, never>;
  hang_up: Record<string, never>;
  open_media: Record<string, never>;
  restart_modem: Record<string, never>;
  unlock_sim: Record<string, never>;
}
