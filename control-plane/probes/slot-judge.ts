// Takes slots out of the pool when their probes fail, and puts them back when they succeed.
import type { Base } from '../bus/base.ts';
import type { SlotPlace } from '../store/fleet/slot-service.ts';
import { changeByProbe, findTrials, partnerOf, shareOf } from '../store/operations/probe-trials.ts';
import { mayLeave, verdictOf } from './verdict.ts';

export type JudgeParts = Pick<Base, 'db' | 'clock' | 'log'>;

/** Judges a slot by its last probes, after another one has ended. */
export async function judgeSlot({ db, clock, log }: JudgeParts, { node, slot }: SlotPlace): Promise<void> {
  const trials = await findTrials(db, { node, slot });
  await changeByProbe(
    db,
    { node, slot },
    (spares) => {
      const own = spares.find((spare) => spare.node === node && spare.slot === slot);
      // Sold meanwhile, or an operator took it out of service.
      if (own === undefined) return { take: 'nothing' };
      const others = spares.filter((spare) => spare !== own);
      const verdict = verdictOf(trials, {
        all: new Set(others.map((other) => partnerOf({ node, slot }, other))),
        nodes: new Set(others.map((other) => other.node).filter((other) => other !== node)),
      });
      if (own.is_out) {
        if (verdict.is !== 'good') return { take: 'nothing' };
        log.info({ node, slot }, 'slot back in service: its probes arrive');
        return { take: 'in' };
      }
      if (verdict.is !== 'bad') return { take: 'nothing' };
      const { reason } = verdict;
      if (mayLeave(shareOf(spares, own.carrier))) {
        log.warn({ node, slot, reason }, 'slot taken out of service: its probes fail');
        return { take: 'out', reason };
      }
      log.warn(
        { node, slot, reason },
        'slot kept in service: half of the slots of its carrier are already out',
      );
      return { take: 'nothing' };
    },
    new Date(clock.now()),
  );
}
