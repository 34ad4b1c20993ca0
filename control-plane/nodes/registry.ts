// What an operator does with nodes: gives a code, looks at them.
import { createHash, randomBytes } from 'node:crypto';
import type { Clock } from '#shared/clock.ts';
import { CODE_ALPHABET, CODE_LENGTH, readCode, showCode } from '#shared/link/enrolment.ts';
import { keyFingerprint } from '../domain/key-fingerprint.ts';
import type { Database } from '../store/database/database.ts';
import { type Refusals, readRefusals } from '../store/fleet/node-refusals.ts';
import { listNodes, type NodeRow, putCode } from '../store/fleet/nodes.ts';
import type { UnregisteredSlot } from '../store/fleet/slots.ts';
import { insertAudit } from '../store/operations/audit-log.ts';

/** An operator walks to the rack within a day. */
export const CODE_LIFETIME_MS = 24 * 60 * 60 * 1000;

export interface NodeCode {
  /** Shown once; only its hash is stored. */
  code: string;
  expires_at: string;
}

export interface NodeListing {
  name: string;
  /** `pending`: an operator has to approve its key. */
  state: 'waiting' | 'pending' | 'enrolled' | 'linked' | 'revoked';
  /** Of its key; null before it is enrolled. */
  fingerprint: string | null;
  sims: number;
  alarms: string[];
  /** Slots that serve no number, as the node told them last. */
  unregistered_slots: UnregisteredSlot[];
  /** It takes no SIM that it does not hold, until it is approved. */
  is_suspended: boolean;
  /** What was refused of it, by reason. */
  refused: Refusals;
  /** Until when its code may be used, where it has one. */
  code_until: string | null;
}

export interface NodeRegistry {
  /** A code that enrols the node `name`, new or known; codes given before are void. */
  add(name: string): Promise<NodeCode>;
  list(): Promise<NodeListing[]>;
}

export function createNodeRegistry({ db, clock }: { db: Database; clock: Clock }): NodeRegistry {
  return {
    async add(name) {
      const code = mintCode();
      const at = new Date(clock.now());
      const expiresAt = new Date(at.getTime() + CODE_LIFETIME_MS);
      await db.transaction().execute(async (trx) => {
        await putCode(trx, { nodeId: name, codeHash: hashCode(code), expiresAt });
        await insertAudit(trx, {
          at,
          actor: 'command line',
          action: 'addNode',
          subject: name,
          result: 'ok',
          detail: { code_until: expiresAt.toISOString() },
        });
      });
      return { code: showCode(code), expires_at: expiresAt.toISOString() };
    },
    async list() {
      const now = new Date(clock.now());
      const refusals = await readRefusals(db);
      return (await listNodes(db)).map((row) => ({
        name: row.id,
        state: stateOf(row, now),
        fingerprint: row.publicKey === null ? null : keyFingerprint(row.publicKey),
        sims: row.sims,
        alarms: row.alarms,
        unregistered_slots: row.unregisteredSlots,
        is_suspended: row.claimsSuspendedAt !== null,
        refused: refusals.get(row.id) ?? {},
        code_until: row.codeUntil !== null && row.codeUntil > now ? row.codeUntil.toISOString() : null,
      }));
    },
  };
}

function stateOf(row: NodeRow, now: Date): NodeListing['state'] {
  if (row.revokedAt !== null) return 'revoked';
  if (row.enrolledAt === null) return 'waiting';
  if (row.approvalPendingSince !== null) return 'pending';
  return row.linkAliveUntil !== null && row.linkAliveUntil > now ? 'linked' : 'enrolled';
}

/** SHA-256 of the code as `readCode` reads it: what the store knows. */
export const hashCode = (code: string): Buffer => createHash('sha256').update(readCode(code)).digest();

// 256 is a multiple of 32: every character is as likely as the others.
const mintCode = (): string =>
  [...randomBytes(CODE_LENGTH)].map((byte) => CODE_ALPHABET[byte % CODE_ALPHABET.length]).join('');
