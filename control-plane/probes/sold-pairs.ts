// The probes of sold numbers that are due now, each with the spare SIM that sends it.
import type { SendingLimits } from '../domain/sending-limits.ts';
import type { Database } from '../store/database/database.ts';
import { findSpareSims, type ProbeSim, type SpareSim } from '../store/operations/probe-pairs.ts';
import { partnerOf } from '../store/operations/probe-trials.ts';
import {
  findDueSold,
  isStillDue,
  judgeSold,
  lastToSubscriber,
  readProbeUsage,
} from '../store/operations/sold-probes.ts';
import { senderFor, soldNow, withText } from './sold-turns.ts';

interface ProbePair {
  sender: ProbeSim;
  recipient: ProbeSim;
}

interface DueParts {
  db: Database;
  /** At most one text to each number in this time. */
  periodMs: number;
  /** Limits of the texts that a number may send. */
  limits: SendingLimits;
  isAllowed(to: string): boolean;
  now: Date;
}

export async function findSoldPairs({
  db,
  periodMs,
  limits,
  isAllowed,
  now,
}: DueParts): Promise<ProbePair[]> {
  const { due, sold } = await findDueSold(db, { dueBefore: new Date(now.getTime() - periodMs), now });
  const allowed = due.filter(({ number }) => isAllowed(number));
  if (allowed.length === 0) return [];
  const count = soldNow({ sold, periodMs, last: await lastToSubscriber(db), now });
  const spares = await findSenders(db, now);
  if (count === 0 || spares.length === 0) return [];
  const iccids = spares.map(({ iccid }) => iccid);
  const usage = await readProbeUsage(db, iccids, now);
  const pairs: ProbePair[] = [];
  for (const recipient of allowed) {
    if (pairs.length === count) break;
    const sender = senderFor(recipient, spares, { usage, limits });
    if (sender === undefined) continue;
    usage.set(sender.iccid, withText(usage.get(sender.iccid)));
    pairs.push({ sender, recipient });
  }
  return pairs;
}

/** Whether the sender is still spare, and the recipient is still to be probed. */
export async function isStillPair(
  db: Database,
  { sender, recipient }: ProbePair,
  { periodMs, now }: { periodMs: number; now: Date },
): Promise<boolean> {
  const isSpare = (await findSenders(db, now)).some(({ iccid }) => iccid === sender.iccid);
  return isSpare && isStillDue(db, recipient, { dueBefore: new Date(now.getTime() - periodMs), now });
}

/** Returns true if this is the first judgment that finds the number without texts. */
export async function judgeSoldNumber(db: Database, recipient: ProbeSim, now: Date): Promise<boolean> {
  const spares = await findSenders(db, now);
  const partners = new Set(spares.map((spare) => partnerOf(recipient, spare))).size;
  return judgeSold(db, recipient, { partners, now });
}

/** Spare SIMs whose own probes do not fail. */
const findSenders = async (db: Database, now: Date): Promise<SpareSim[]> =>
  (await findSpareSims(db, now)).filter(({ is_out: isOut }) => !isOut);
