// What an operator does with nodes: gives a code, looks at them, takes one out of service.
import { createHash, randomBytes } from 'node:crypto';
import type { Clock } from '#shared/clock.ts';
import { CODE_ALPHABET, CODE_LENGTH, readCode, showCode } from '#shared/link/enrolment.ts';
import type { Database } from '../store/database.ts';
import { listNodes, putCode, revokeNode } from '../store/nodes.ts';
import type { UnregisteredSlot } from '../store/tables.ts';

/** An operator walks to the rack within a day. */
export const CODE_LIFETIME_MS = 24 * 60 * 60 * 1000;

export interface NodeCode {
  /** Shown once; only its hash is stored. */
  code: string;
  expires_at: string;
}

export interface NodeListing {
  name: string;
  state: 'waiting' | 'enrolled' | 'linked' | 'revoked';
  sims: number;
  alarms: string[];
  /** Slots that serve no number, as the node told them last. */
  unregistered_slots: UnregisteredSlot[];
  /** Until when its code may be used, where it has one. */
  code_until: string | null;
}

export interface NodeRegistry {
  /** A code that enrols the node `name`, new or known; codes given before are void. */
  add(name: string): Promise<NodeCode>;
  list(): Promise<NodeListing[]>;
  /** Ends the node's link and lets it make no other. False when there is no such node. */
  revoke(name: string): Promise<boolean>;
}

export function createNodeRegistry({ db, clock }: { db: Database; clock: Clock }): NodeRegistry {
  return {
    async add(name) {
      const code = mintCode();
      const expiresAt = new Date(clock.now() + CODE_LIFETIME_MS);
      await putCode(db, { nodeId: name, codeHash: hashCode(code), expiresAt });
      return { code: showCode(code), expires_at: expiresAt.toISOString() };
    },
    async list() {
      const now = new Date(clock.now());
      return (await listNodes(db)).map((row) => ({
        name: row.id,
        state:
          row.revokedAt !== null
            ? 'revoked'
            : row.enrolledAt === null
              ? 'waiting'
              : row.linkAliveUntil !== null && row.linkAliveUntil > now
                ? 'linked'
                : 'enrolled',
        sims: row.sims,
        alarms: row.alarms,
        unregistered_slots: row.unregisteredSlots,
        code_until: row.codeUntil !== null && row.codeUntil > now ? row.codeUntil.toISOString() : null,
      }));
    },
    revoke: (name) => revokeNode(db, name, new Date(clock.now())),
  };
}

/** SHA-256 of the code as `readCode` reads it: what the store knows. */
export const hashCode = (code: string): Buffer => createHash('sha256').update(readCode(code)).digest();

// 256 is a multiple of 32: every character is as likely as the others.
const mintCode = (): string =>
  [...randomBytes(CODE_LENGTH)].map((byte) => CODE_ALPHABET[byte % CODE_ALPHABET.length]).join('');
