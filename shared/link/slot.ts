// A slot in the reports of its node: its state, modem, SIM and network.
import * as z from 'zod';
import { e164Schema, iccidSchema, imeiSchema } from '../identities.ts';

/** The operator's name for a slot of a node, one line of text. */
export const slotNameSchema = z
  .string()
  .min(1)
  .max(64)
  .regex(/^[^\p{Cc}\p{Cs}]*$/u, 'must be one line of text');

/** The place that `rack-7/m3` names. The name of a slot may contain a slash, that of a node may not. */
export function placeOfText(text: string): { node: string; slot: string } {
  const [node = '', ...slot] = text.split('/');
  return { node, slot: slot.join('/') };
}

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

/** The settings of a modem for calls on the network of its card. */
export const voiceSettingsSchema = z.object({
  /** Code of the card's network, MCC and MNC. */
  network: z.string().max(8),
  state: z.enum(['right', 'differs']),
  /** Why they differ: a word such as "refused", "not_kept", "off". */
  why: z.string().max(64).nullable(),
  /** "carrier_profile: ROW_Generic_3GPP, not Commercial-TMO_VoLTE" */
  detail: z.string().max(200).nullable(),
});
export type VoiceSettings = z.infer<typeof voiceSettingsSchema>;

/** A slot of a node and what is in it now. The last state wins; it is not a fact. */
export const slotSchema = z.object({
  /** Unique on the node. */
  slot: slotNameSchema,
  state: slotStateSchema,
  /** IMEI; null until the modem reports it. */
  device_id: imeiSchema.nullable(),
  /** ICCID of the SIM; null without one. */
  iccid: iccidSchema.nullable(),
  /** Number of the SIM, if the SIM or the operator's configuration has it. */
  number: e164Schema.nullable(),
  /** Network operator: MCC and MNC, or its name as the modem reports it. */
  operator: z.string().max(64).nullable(),
  /** Signal strength in dBm. */
  signal_dbm: z.number().int().nullable(),
  /** Make and model, as the modem reports them. */
  model: z.string().max(64).nullable().default(null),
  /** USB path of the device, such as "1-1.2" (bus, ports). */
  usb_path: z.string().max(64).nullable().default(null),
  /** Why the slot is not registered, a word such as "sim_puk"; "roaming" if it is registered abroad. */
  reason: z.string().max(64).nullable().default(null),
  /** Used and total places of the storage for received messages, as the modem last reported them. */
  storage: z
    .object({ used: z.int32().min(0), total: z.int32().min(0) })
    .nullable()
    .default(null),
  /**
   * When the last complete sweep of all message storages of the SIM and its modem began, once everything that it found is in
   * the journal. Null until the first sweep of this modem session.
   */
  swept_at: z.iso.datetime({ offset: true }).nullable().default(null),
  /** The last recovery step, if it failed, and why: "usb_reset: EACCES: permission denied". Null or absent once one succeeded, or in service. */
  failed_step: z.string().max(200).nullable().optional(),
  /** Null or absent if the daemon knows no settings for this make on this network. */
  voice_settings: voiceSettingsSchema.nullable().optional(),
});
export type Slot = z.infer<typeof slotSchema>;
