// Enrollment: a one-time code from the operator registers the public half of a node's key.
import * as z from 'zod';

/** The operator gives a node its name once, when the node is enrolled. */
export const nodeNameSchema = z.string().regex(/^[a-z0-9-]{1,32}$/, 'must be 1 to 32 of a-z, 0-9 and -');

/** `POST` below the control plane's base URL. */
export const ENROLL_PATH = '/nodes/enrol';

/** Crockford's base 32: no I, L, O and U, which people mistake for others. */
export const CODE_ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** 20 characters of 5 bits: 100 bits cannot be guessed. */
export const CODE_LENGTH = 20;
const CODE_GROUP = 5;

/** A code as it is shown: "7KQ2M-…", four groups. */
export const showCode = (code: string): string =>
  (code.match(new RegExp(`.{1,${CODE_GROUP}}`, 'g')) ?? []).join('-');

/**
 * The code as typed by a person, normalized: upper case, without dashes and blanks, I and L read as 1, O as 0.
 */
export const readCode = (typed: string): string =>
  typed.toUpperCase().replace(/[\s-]/g, '').replace(/[IL]/g, '1').replace(/O/g, '0');

const codeSchema = z
  .string({ error: 'a string is required' })
  .max(64, 'must have at most 64 characters')
  .transform(readCode)
  .refine(
    (code) =>
      code.length === CODE_LENGTH && [...code].every((character) => CODE_ALPHABET.includes(character)),
    `must be a code of ${CODE_LENGTH} letters and digits`,
  );

/** An Ed25519 public key (RFC 8032 §5.1.5): 32 bytes, base64url without padding. */
const publicKeySchema = z
  .string({ error: 'a string is required' })
  .regex(/^[A-Za-z0-9_-]{43}$/, 'must be 32 bytes as base64url');

/** The fingerprint of a key, from the SHA-256 of its 32 bytes in base64: in the form of OpenSSH, "SHA256:…". */
export const showFingerprint = (digest: string): string => `SHA256:${digest.replace(/=+$/, '')}`;

/** Body of `POST /nodes/enrol`. Sent again with the same key it has the same answer. */
export const enrollRequestSchema = z.object({ code: codeSchema, public_key: publicKeySchema });

/** Its answer: the name that the operator gave, and whether the key waits for the operator's approval. */
export const enrollAnswerSchema = z.object({
  node_id: nodeNameSchema,
  approval: z.enum(['pending', 'granted']).default('granted'),
});
