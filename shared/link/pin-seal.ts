// PINs on the control link: sealed with age (age-encryption.org) for a key that the node made for it, and that its own key has signed.
import * as z from 'zod';

/** A file of age with a PIN is a quarter of this. */
export const SEALED_PIN_LENGTH_MAX = 2_048;

/** The public key that PINs are sealed for, and its signature by the node's Ed25519 key over `pinKeyText`. */
export const pinKeySchema = z.object({
  /** X25519, as age writes it. */
  recipient: z.string().regex(/^age1[a-z0-9]{58}$/),
  /** 64 bytes, base64url without padding. */
  signature: z.string().regex(/^[A-Za-z0-9_-]{86}$/),
});
export type PinKey = z.infer<typeof pinKeySchema>;

/** The text that the node signs. */
export const pinKeyText = (nodeId: string, recipient: string): string =>
  `simrack pin key\n${nodeId}\n${recipient}`;

/** The sealed content, as JSON: a PIN opens for its card only. */
export const sealedPinSchema = z.object({
  iccid: z.string().regex(/^\d{18,22}$/),
  pin: z.string().regex(/^\d{4,8}$/),
});
export type SealedPin = z.infer<typeof sealedPinSchema>;
