// What a node shows when it connects: its name, and the secret that it shares with the control plane.
import { z } from 'zod';

/** Headers of the upgrade: `Authorization: Bearer <secret>` and this one with the node's name. */
export const NODE_ID_HEADER = 'X-Node-Id';

export const nodeIdSchema = z.string().regex(/^[a-z0-9-]{1,32}$/, 'must be 1 to 32 of a-z, 0-9 and -');

/** It travels in a header, so it has no blanks and nothing beyond ASCII. */
export const linkSecretSchema = z
  .string({ error: 'required: a secret of 16 characters or more' })
  .regex(/^[\x21-\x7e]{16,512}$/, 'must be 16 or more printable ASCII characters without blanks');
