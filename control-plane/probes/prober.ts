// Delivery probes: scheduled rounds, tests that an operator requests, and the consequences of each result.
import { randomUUID } from 'node:crypto';
import { problemOfDestination } from '#shared/destination.ts';
import type { Destinations } from '#shared/destination-list.ts';
import type { Random } from '#shared/random.ts';
import { newProbeId, newProbeToken } from '../domain/probe-text.ts';
import { OperatorRefusal } from '../domain/refusal.ts';
import type { SendingLimits } from '../domain/sending-limits.ts';
import { maskedNumber } from '../domain/shown-value.ts';
import { emitMetric } from '../metrics/metric-events.ts';
import type { ProbeKind } from '../store/database/operation-tables.ts';
import { proveByProbes } from '../store/fleet/sim-proof.ts';
import { admitProven, findAdmissionTexts } from '../store/operations/probe-admission.ts';
import { findSpareSims, findTestPair, type ProbeSim } from '../store/operations/probe-pairs.ts';
import {
  abandonOverdue,
  deleteOldProbes,
  endProbe,
  insertProbe,
  lastScheduled,
  leaveTurn,
  type Probe,
  type ProbeOutcome,
  takeTurn,
} from '../store/operations/probes.ts';
import { forgetReached } from '../store/operations/sold-probes.ts';
import { abandoned } from './outcome.ts';
import { type CallParts, RING_MS, tryCall } from './probe-call.ts';
import { type TextParts, tryText } from './probe-text.ts';
import { type JudgeParts, judgeSlot } from './slot-judge.ts';
import { findSoldPairs, isStillPair, judgeSoldNumber } from './sold-pairs.ts';
import { inTurns, pairsOf } from './turns.ts';

const MINUTE_MS = 60_000;
const KEPT_MS = 30 * 24 * 60 * MINUTE_MS;

/** Concurrent texts. Calls come one after the other, because a SIM has one at a time. */
const TEXTS_AT_ONCE = 4;
/** The first round is one of this many, at random. */
const FIRST_ROUNDS = 1_000;

/** Concurrent tests of operators. */
const TESTS_MAX = 16;

interface ProberParts extends CallParts, JudgeParts, TextParts {
  /** Time between two rounds; undefined: there are no rounds. */
  periodMs: number | undefined;
  withCalls: boolean;
  random: Random;
  /** Time between two probes of a sold number; undefined: sold numbers are not probed. */
  soldPeriodMs: number | undefined;
  /** How much a number may send: they hold for the spare SIMs that text sold numbers. */
  limits: SendingLimits;
  /** Time after which a text counts as lost. */
  timeoutMs: number;
  /** The destinations that the service allows: a node may report any number. */
  destinations: Destinations;
}

export class Prober {
  readonly #parts: ProberParts;
  /** Identifies this instance. */
  readonly #self = randomUUID();
  readonly #stopping = new AbortController();
  readonly #tests = new Set<Promise<void>>();
  /** A random start: a process that restarts often must not always make the same pairs. */
  #round: number;

  constructor(parts: ProberParts) {
    this.#parts = parts;
    this.#round = Math.floor(parts.random() * FIRST_ROUNDS);
  }

  /** Call it repeatedly: makes a round when it is due, and cleans up. Resolves when the round is over. */
  async check(): Promise<void> {
    const { db, periodMs, soldPeriodMs, withCalls } = this.#parts;
    const now = this.#now();
    await abandonOverdue(db, now);
    await deleteOldProbes(db, new Date(now.getTime() - KEPT_MS));
    await forgetReached(db, { isOff: soldPeriodMs === undefined });
    if (periodMs !== undefined) {
      await this.#roundOf('sms', periodMs);
      if (withCalls) await this.#roundOf('call', periodMs);
    }
    if (soldPeriodMs !== undefined) await this.#probeSold(soldPeriodMs);
    // Last: new SIMs that nodes report must not delay the probes of known ones.
    if (periodMs !== undefined) await this.#admit(periodMs);
  }

  /** Begins one text between two unassigned numbers, and returns its id. Throws `OperatorRefusal`. */
  async test(from: string, to: string): Promise<{ id: string }> {
    if (this.#stopping.signal.aborted) throw new OperatorRefusal('The service is stopping.');
    if (this.#tests.size >= TESTS_MAX)
      throw new OperatorRefusal(`${TESTS_MAX} tests are already in progress. Wait until one has ended.`);
    const problem = this.#problemOf(to);
    if (problem !== undefined) throw new OperatorRefusal(`${maskedNumber(to)}: ${problem}`);
    // No await before its place is taken.
    const begun = findTestPair(this.#parts.db, { from, to, now: this.#now() }).then((pair) =>
      this.#begin('sms', pair, { isScheduled: false }),
    );
    const test = begun.then(
      (probe) =>
        this.#try(probe).catch((error: unknown) =>
          this.#parts.log.error({ err: error, probe: probe.id }, 'probe failed because of an internal error'),
        ),
      () => undefined,
    );
    this.#tests.add(test);
    void test.finally(() => this.#tests.delete(test));
    return { id: (await begun).id };
  }

  /** Aborts the probes under way. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#tests);
  }

  /** Proves the numbers of new SIMs, each by a text from and to an admitted SIM of another node. */
  async #admit(periodMs: number): Promise<void> {
    const { db, fleet, log } = this.#parts;
    // First: texts that another instance sends meanwhile must count.
    if (!(await this.#holdTurn())) return;
    try {
      const now = this.#now();
      const due = await findAdmissionTexts(db, { now, retryBefore: new Date(now.getTime() - periodMs) });
      const allowed = due.filter(
        ({ sender, recipient }) =>
          fleet.find(sender.node) !== undefined && this.#problemOf(recipient.number) === undefined,
      );
      await this.#each(TEXTS_AT_ONCE, inTurns(allowed), async (pair) => {
        await this.#try(await this.#begin('sms', pair, { isScheduled: false, isAdmission: true }));
      });
    } finally {
      await leaveTurn(db, this.#self);
    }
    for (const number of await admitProven(db))
      log.info({ number }, 'new SIM admitted: texts proved its number');
  }

  async #probeSold(periodMs: number): Promise<void> {
    const { db, limits } = this.#parts;
    const isAllowed = (to: string): boolean => this.#problemOf(to) === undefined;
    const pairs = await findSoldPairs({ db, periodMs, limits, isAllowed, now: this.#now() });
    if (pairs.length === 0 || !(await this.#holdTurn())) return;
    try {
      await this.#each(TEXTS_AT_ONCE, pairs, async (pair) => {
        // Another instance may have probed it meanwhile, and either number may have been sold or returned.
        if (!(await isStillPair(db, pair, { periodMs, now: this.#now() }))) return;
        await this.#try(await this.#begin('sms', pair, { isScheduled: true, isToSubscriber: true }));
      });
    } finally {
      await leaveTurn(db, this.#self);
    }
  }

  /** Runs `work` for all pairs, `atOnce` of them at a time, while this instance has the turn. */
  async #each<P>(atOnce: number, pairs: readonly P[], work: (pair: P) => Promise<void>): Promise<void> {
    const waiting = [...pairs];
    const worker = async (): Promise<void> => {
      for (let pair = waiting.shift(); pair !== undefined; pair = waiting.shift())
        if (!this.#stopping.signal.aborted && (await this.#holdTurn())) await work(pair);
    };
    await Promise.all(Array.from({ length: atOnce }, worker));
  }

  async #roundOf(kind: ProbeKind, periodMs: number): Promise<void> {
    const { db, fleet } = this.#parts;
    const spares = await findSpareSims(db, this.#now());
    const isHere = ({ node }: ProbeSim): boolean => fleet.find(node) !== undefined;
    const pairs = pairsOf(spares, this.#round).filter(
      ({ sender, recipient }) =>
        isHere(sender) &&
        (kind === 'sms' || isHere(recipient)) &&
        this.#problemOf(recipient.number) === undefined,
    );
    if (pairs.length === 0) return;
    const iccids = pairs.map(({ sender }) => sender.iccid);
    const last = await lastScheduled(db, kind, iccids);
    if (last !== undefined && this.#now().getTime() - last.getTime() < periodMs) return;
    if (!(await this.#holdTurn())) return;
    if (kind === 'sms') this.#round += 1;
    try {
      await this.#each(kind === 'sms' ? TEXTS_AT_ONCE : 1, pairs, (pair) => this.#scheduled(kind, pair));
    } finally {
      await leaveTurn(db, this.#self);
    }
  }

  #holdTurn(): Promise<boolean> {
    const now = this.#now();
    const until = new Date(now.getTime() + this.#parts.timeoutMs + this.#parts.sendTimeoutMs + MINUTE_MS);
    return takeTurn(this.#parts.db, this.#self, until, now);
  }

  async #scheduled(kind: ProbeKind, pair: { sender: ProbeSim; recipient: ProbeSim }): Promise<void> {
    const { db } = this.#parts;
    const [from, to] = [pair.sender.number, pair.recipient.number];
    // The number was sold, or the SIM is gone, since the round began.
    const found = await findTestPair(db, { from, to, now: this.#now() }).catch((error: unknown) => {
      if (error instanceof OperatorRefusal) return undefined;
      throw error;
    });
    if (found !== undefined) await this.#try(await this.#begin(kind, found, { isScheduled: true }));
  }

  async #begin(
    kind: ProbeKind,
    pair: { sender: ProbeSim; recipient: ProbeSim },
    {
      isScheduled,
      isAdmission = false,
      isToSubscriber = false,
    }: { isScheduled: boolean; isAdmission?: boolean; isToSubscriber?: boolean },
  ): Promise<Probe> {
    const { db, timeoutMs } = this.#parts;
    const startedAt = this.#now();
    const limitMs = kind === 'sms' ? timeoutMs : RING_MS;
    const probe: Probe = {
      id: newProbeId(),
      kind,
      isScheduled,
      isAdmission,
      isToSubscriber,
      token: newProbeToken(),
      ...pair,
      startedAt,
      deadlineAt: new Date(startedAt.getTime() + limitMs),
    };
    await insertProbe(db, probe);
    return probe;
  }

  async #try(probe: Probe): Promise<void> {
    const { db } = this.#parts;
    const { signal } = this.#stopping;
    const attempt = probe.kind === 'sms' ? tryText : tryCall;
    const seen = signal.aborted
      ? abandoned('the service stopped')
      : await attempt(this.#parts, probe, signal);
    const outcome = await endProbe(db, probe.id, seen, this.#now());
    if (outcome.result === 'delivered') await proveByProbes(db);
    count(probe, outcome);
    this.#parts.log.info(
      { probe: probe.id, from: placeOf(probe.sender), to: placeOf(probe.recipient), ...outcome },
      'probe ended',
    );
    if (outcome.result === 'abandoned') return;
    if (probe.isToSubscriber) return this.#judgeSold(probe);
    // An unadmitted SIM may be invented: it must not take the slot at the other end out of service.
    if (probe.isAdmission) return;
    // The far end first: if either may be at fault, it is more often the end that received nothing.
    for (const { node, slot } of [probe.recipient, probe.sender])
      await judgeSlot(this.#parts, { node, slot });
  }

  async #judgeSold({ id, recipient }: Probe): Promise<void> {
    const { db, log } = this.#parts;
    if (await judgeSoldNumber(db, recipient, this.#now()))
      log.warn(
        { probe: id, slot: placeOf(recipient) },
        'sold number without service: its probes do not arrive',
      );
  }

  #problemOf(to: string): string | undefined {
    return problemOfDestination(to, this.#parts.destinations)?.message;
  }

  #now(): Date {
    return new Date(this.#parts.clock.now());
  }
}

const placeOf = ({ node, slot }: ProbeSim): string => `${node}/${slot}`;

function count({ kind, sender, recipient }: Probe, outcome: ProbeOutcome): void {
  const ends = [
    { role: 'sender' as const, ...sender },
    { role: 'recipient' as const, ...recipient },
  ].filter(
    ({ role }) => outcome.result !== 'failed' || outcome.failedEnd === 'either' || outcome.failedEnd === role,
  );
  emitMetric({
    kind: 'probed',
    probe: kind,
    result: outcome.result,
    ends: ends.map(({ role, node, slot, carrier }) => ({ role, node, slot, carrier })),
    seconds: outcome.result === 'delivered' ? outcome.latencyMs / 1000 : undefined,
  });
}
