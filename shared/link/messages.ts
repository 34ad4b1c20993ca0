// What node and control plane say to each other: slots, facts, commands. Shapes only; frames are in frame.ts.
import * as z from 'zod';
import { e164Schema } from '../e164.ts';
import { callEndedSchema, callIdSchema, type DialOutcome } from '../voice/call.ts';
import { iccidSchema, imeiSchema } from './identities.ts';

/** The operator's name for a place on a node, one line of text: it is typed, printed and written down. */
export const slotNameSchema = z
  .string()
  .min(1)
  .max(64)
  .regex(/^[^\p{Cc}\p{Cs}]*$/u, 'must be one line of text');

const timestampSchema = z.iso.datetime({ offset: true });

export const slotStateSchema = z.enum([
  /** The modem is being opened and set up. */
  'starting',
  'sim_absent',
  'sim_locked',
  'searching',
  'denied',
  'registered',
  /** The modem does not answer or its port is gone. */
  'lost',
]);
export type SlotState = z.infer<typeof slotStateSchema>;

/** A place for a modem on a node, and what sits in it now. Last state wins; it is not a fact. */
export const slotSchema = z.object({
  /** Unique on the node. */
  slot: slotNameSchema,
  state: slotStateSchema,
  /** IMEI, null until the modem has told it. */
  device_id: imeiSchema.nullable(),
  iccid: iccidSchema.nullable(),
  /** The SIM's own number where the SIM or the operator's configuration tells it. */
  number: e164Schema.nullable(),
  /** Network operator, numeric (MCC and MNC) or as the modem names it. */
  operator: z.string().max(64).nullable(),
  signal_dbm: z.number().int().nullable(),
  /** Make and model as the modem tells them. */
  model: z.string().max(64).nullable().default(null),
  /** Where the device is plugged in, such as "1-1.2" (bus, ports). */
  usb_path: z.string().max(64).nullable().default(null),
  /** Why the slot is not in service, a word such as "sim_puk"; "roaming" where it is, abroad; else null. */
  reason: z.string().max(64).nullable().default(null),
  /** Places of the storage that messages are received into, as the modem told them last; null where it did not. */
  storage: z
    .object({ used: z.int32().min(0), total: z.int32().min(0) })
    .nullable()
    .default(null),
  /**
   * When the last complete reading of all message storages of the SIM and its modem began, once all that it found is in the
   * journal. Of this session of the modem only: null until its first. Told again every few minutes.
   */
  swept_at: timestampSchema.nullable().default(null),
});
export type Slot = z.infer<typeof slotSchema>;

/** What became of an SMS that the modem was asked to send. */
export const smsOutcomeSchema = z.discriminatedUnion('status', [
  z.object({
    status: z.literal('accepted'),
    /** TP-Message-Reference of each segment, in order (3GPP TS 23.040 §9.2.3.6). */
    message_references: z.array(z.number().int().min(0).max(255)).min(1).max(255),
    at: timestampSchema,
  }),
  z.object({
    status: z.literal('rejected'),
    /** `cms_<n>`, `cme_<n>` or a word. */
    code: z.string().max(64),
    /**
     * What is worth doing, with a new command: `retry` soon, `wait` until the SIM or modem was mended,
     * nothing (`final`).
     */
    class: z.enum(['retry', 'wait', 'final']).optional(),
    message: z.string().max(512),
    at: timestampSchema,
  }),
  z.object({
    /** Nobody can know: the modem may have sent it. */
    status: z.literal('unknown'),
    message: z.string().max(512),
    at: timestampSchema,
  }),
]);
export type SmsOutcome = z.infer<typeof smsOutcomeSchema>;

/** Things that happened. Journalled by the node, sent until acknowledged, never twice by position. */
export const factSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('sms_received'),
    iccid: iccidSchema,
    /** E.164 where the sender is a number in international form, else as received (short code, name). */
    from: z.string().max(32),
    body: z.string().max(40_000),
    /** Time stamp of the service centre with its zone; null where it was invalid. */
    sent_at: timestampSchema.nullable(),
    received_at: timestampSchema,
    /**
     * The storage it was read from was read as a whole then, and it was not there: it reached the modem later. Absent where
     * the node cannot know.
     */
    arrived_after: timestampSchema.optional(),
    /** True when parts of a concatenated message never came. */
    partial: z.boolean(),
  }),
  z.object({
    /** A TPDU that could not be decoded, kept so that nothing is lost silently. */
    kind: z.literal('sms_unreadable'),
    iccid: iccidSchema,
    /** Hexadecimal, as the modem gave it. */
    pdu: z.string().max(1024),
    reason: z.string().max(512),
    received_at: timestampSchema,
  }),
  z.object({
    kind: z.literal('sms_outcome'),
    command_id: z.string().min(1).max(64),
    outcome: smsOutcomeSchema,
  }),
  z.object({
    kind: z.literal('sms_report'),
    iccid: iccidSchema,
    /** The command that sent it, where the node could match the reference. */
    command_id: z.string().max(64).nullable(),
    message_reference: z.number().int().min(0).max(255),
    recipient: z.string().max(32),
    /** Which of how many segments the report is about. */
    part: z.number().int().min(1).max(255).default(1),
    parts: z.number().int().min(1).max(255).default(1),
    status: z.enum(['delivered', 'pending', 'failed', 'expired']),
    /** TP-Status octet (3GPP TS 23.040 §9.2.3.15). */
    tp_status: z.number().int().min(0).max(255),
    at: timestampSchema,
  }),
  /** Since version 3. */
  callEndedSchema,
]);
export type Fact = z.infer<typeof factSchema>;
export type FactOf<K extends Fact['kind']> = Extract<Fact, { kind: K }>;

/** Something an operator wants to know of a slot. Told while the link is up, and not kept: no fact. */
export const slotEventSchema = z.object({
  slot: slotNameSchema,
  /** A word such as "recovery_step"; unknown ones are shown as they are. */
  kind: z.string().min(1).max(64),
  detail: z.string().max(512),
  at: timestampSchema,
});
export type SlotEvent = z.infer<typeof slotEventSchema>;

/** Troubles of a whole node, words such as "journal_unavailable". */
export const alarmsSchema = z.array(z.string().min(1).max(64)).max(32);

/** Facts that wait for the control plane; absent from a node that does not tell. */
export const journalDepthSchema = z.int32().min(0).optional();

/** Parameters of each command. */
export const commandSchemas = {
  /** Confirms that this node holds the SIM now and may serve its number. Result: `{}`. */
  bind_sim: z.object({ iccid: iccidSchema }),
  /** Sends one SMS once. Result: an `SmsOutcome`, the same for every repetition of the command id. */
  send_sms: z.object({
    iccid: iccidSchema,
    to: e164Schema,
    body: z.string().min(1).max(40_000),
    /** More segments than this are refused as `params_invalid`. */
    segments_max: z.number().int().min(1).max(255),
  }),
  /**
   * Places a call. Result: a `DialOutcome`, as soon as the far end rings, has answered or will not. Refused as
   * `line_busy` where the SIM has a call already. Since version 3.
   */
  dial: z.object({ call_id: callIdSchema, iccid: iccidSchema, to: e164Schema }),
  /** Answers a call that rings. Result: `{}`, once the modem has said so. Since version 3. */
  answer: z.object({ call_id: callIdSchema }),
  /** Ends a call, or rejects one that rings: its holder wants it, or nobody owns it any more. Result: `{}`, once the modem has said so. Since version 3. */
  hang_up: z.object({ call_id: callIdSchema, reason: z.enum(['local_hangup', 'abandoned']) }),
  /**
   * Opens the media link of a call, in place of the one it has. Result: `{}`, once it is open. Since version 3.
   */
  open_media: z.object({
    call_id: callIdSchema,
    /** Base URL of the instance, or null: that of the control link. */
    base_url: z
      .url({ protocol: /^https?$/ })
      .max(512)
      .nullable(),
    /** Good for one upgrade. */
    ticket: z.string().min(16).max(128),
  }),
  /**
   * Restarts the modem of a slot. Result: `{}`, once it has begun; the slot tells the rest. Refused as `line_busy` while a
   * call is up, unless by `force`. An older node refuses it as `command_unknown`.
   */
  restart_modem: z.object({ slot: slotNameSchema, force: z.boolean() }),
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
}
