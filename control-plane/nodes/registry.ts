// Nodes as operators see them: enrollment codes, and the list.
import { createHash, randomBytes } from 'node:crypto';
import * as z from 'zod';
import { CODE_ALPHABET, CODE_LENGTH, readCode, showCode } from '#shared/link/enrollment.ts';
import { keyFingerprint } from '../domain/shown-value.ts';
import type { Database } from '../store/database/database.ts';
import { readLastRefused, readRefusals, refusalsSchema } from '../store/fleet/node-refusals.ts';
import { type NodeRow, putCode, readNodes } from '../store/fleet/nodes.ts';
import { unregisteredSlotSchema } from '../store/fleet/slots.ts';
import { countAway } from '../store/fleet/sold-numbers.ts';

/** An operator reaches the rack within a day. */
const CODE_LIFETIME_MS = 24 * 60 * 60 * 1000;

export const nodeCodeSchema = z.object({
  /** Shown once; only its hash is stored. */
  code: z.string(),
  expires_at: z.string(),
});

export const nodeListingSchema = z.object({
  name: z.string(),
  /** `pending`: an operator must approve its key. */
  state: z.enum(['waiting', 'pending', 'enrolled', 'linked', 'revoked']),
  /** Null before enrollment. */
  fingerprint: z.string().nullable(),
  /** When it got its key; null before enrollment. ISO 8601. */
  enrolled_at: z.string().nullable(),
  sims: z.number(),
  /** Since when an enrolled node has no link; null with a link, and before the first one. ISO 8601. */
  no_link_since: z.string().nullable(),
  /** Customers without service because the node has no link. */
  customers_away: z.number(),
  alarms: z.array(z.string()),
  /** Slots that serve no number, by the node's last report. */
  unregistered_slots: z.array(unregisteredSlotSchema),
  /** The node gets no further SIMs until it is approved. */
  is_suspended: z.boolean(),
  /** Refused reports of the node, by reason. */
  refused: refusalsSchema,
  /** The last of them; null if there is none. ISO 8601. */
  refused_at: z.string().nullable(),
  /** When its code expires; null if it has none. */
  code_until: z.string().nullable(),
});
export type NodeListing = z.output<typeof nodeListingSchema>;

/** Creates a code that enrolls the node `name`, new or known; earlier codes become void. */
export async function newNodeCode(db: Database, name: string, now: Date) {
  const code = mintCode();
  const expiresAt = new Date(now.getTime() + CODE_LIFETIME_MS);
  await putCode(db, { nodeId: name, codeHash: hashCode(code), expiresAt });
  return { code: showCode(code), expires_at: expiresAt.toISOString() };
}

export async function listNodes(db: Database, now: Date): Promise<NodeListing[]> {
  const refusals = await readRefusals(db);
  const lastRefused = await readLastRefused(db);
  const away = await countAway(db, now);
  return (await readNodes(db)).map((row) => ({
    name: row.id,
    state: stateOf(row, now),
    fingerprint: row.publicKey === null ? null : keyFingerprint(row.publicKey),
    enrolled_at: row.enrolledAt?.toISOString() ?? null,
    sims: row.sims,
    no_link_since: stateOf(row, now) === 'enrolled' ? (row.linkAliveUntil?.toISOString() ?? null) : null,
    customers_away: away.get(row.id) ?? 0,
    alarms: row.alarms,
    unregistered_slots: row.unregisteredSlots,
    is_suspended: row.claimsSuspendedAt !== null,
    refused: refusals.get(row.id) ?? {},
    refused_at: lastRefused.get(row.id)?.toISOString() ?? null,
    code_until: row.codeUntil !== null && row.codeUntil > now ? row.codeUntil.toISOString() : null,
  }));
}

function stateOf(row: NodeRow, now: Date): NodeListing['state'] {
  if (row.revokedAt !== null) return 'revoked';
  if (row.enrolledAt === null) return 'waiting';
  if (row.approvalPendingSince !== null) return 'pending';
  return row.linkAliveUntil !== null && row.linkAliveUntil > now ? 'linked' : 'enrolled';
}

/** SHA-256 of the code as `readCode` normalizes it, as stored. */
export const hashCode = (code: string): Buffer => createHash('sha256').update(readCode(code)).digest();

// 256 is a multiple of 32: every character is as likely as the others.
const mintCode = (): string =>
  [...randomBytes(CODE_LENGTH)].map((byte) => CODE_ALPHABET[byte % CODE_ALPHABET.length]).join('');
