// POST /waitlist, and leaving it.
import type { AnswerOf, BodyOf, OPERATION } from '#shared/api/operations.ts';
import type { Base } from '../bus/base.ts';
import { notePool } from '../store/fleet/pool-openings.ts';
import { register, unsubscribe } from '../store/messages/waitlist.ts';

export type WaitlistParts = Pick<Base, 'db' | 'clock'>;

export async function joinWaitlist(
  { db, clock }: WaitlistParts,
  { email }: BodyOf<typeof OPERATION.waitlist>,
): Promise<AnswerOf<typeof OPERATION.waitlist>> {
  const now = new Date(clock.now());
  // A client that saw the pool empty must get a mail when it opens, even if nothing else has checked the pool.
  const { opening } = await notePool(db, now);
  const registeredAt = await register(db, { email, opening, now });
  return { status: 'added', registered_at: registeredAt.toISOString() };
}

/** Does not reveal whether there was such an entry: the link of a mail works twice. */
export const leaveWaitlist = ({ db, clock }: WaitlistParts, token: string): Promise<void> =>
  unsubscribe(db, token, new Date(clock.now()));
