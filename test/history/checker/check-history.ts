// The checker: a run's record and the API's histories in, what is wrong with them out. Pure, number by number.
import { Disturbances } from '../disturbances.ts';
import type { HistoryRow, OutboundRecord, RunRecord } from '../record.ts';
import { AirIndex } from './air-index.ts';
import { checkClaims } from './check-claims.ts';
import { checkOrder } from './check-order.ts';
import { checkReceived } from './check-received.ts';
import { checkSent } from './check-sent.ts';
import { expectedOf } from './expected.ts';
import { Findings } from './findings.ts';

/** The amounts that were checked, so that a verdict without violations means something. */
export interface CheckTotals {
  received: number;
  claimed: number;
  /** In answers that a kill cut. */
  claimsCut: number;
  orderCompared: number;
  /** Messages that overtook others where it is not promised that they do not. */
  orderExcused: number;
  segmentsHeard: number;
  /** Sends by status. */
  statuses: Map<string, number>;
}

export class HistoryChecker {
  readonly findings = new Findings();
  readonly totals: CheckTotals;
  readonly #run: RunRecord;
  readonly #air: AirIndex;
  readonly #disturbances: Disturbances;
  readonly #outbound: OutboundRecord[][];

  constructor(run: RunRecord) {
    this.#run = run;
    this.#air = new AirIndex(run, this.findings);
    for (const command of run.rogueCommands) this.findings.add('rogue_asked', 'rogue', command);
    if (run.calls > 0) this.findings.add('forged_call', 'rogue', `${run.calls} calls`);
    this.#disturbances = new Disturbances(run.disturbances);
    this.#outbound = run.numbers.map(() => []);
    for (const message of run.outbound.values()) this.#outbound[message.modem]?.push(message);
    this.totals = {
      received: 0,
      claimed: 0,
      claimsCut: 0,
      orderCompared: 0,
      orderExcused: 0,
      segmentsHeard: run.heard.length,
      statuses: new Map(),
    };
  }

  /** Checks one number. `rows` is its whole history as /sms/messages gives it: newest first. */
  check(modem: number, rows: readonly HistoryRow[]): void {
    const { findings, totals } = this;
    const disturbances = this.#disturbances;
    const oldestFirst = [...rows].reverse();
    const received = oldestFirst.filter(({ direction }) => direction === 'received');
    const expected = expectedOf(this.#run, this.#air, modem);
    const entries = checkReceived({ modem, expected, rows: received, disturbances, findings });
    if (!this.#run.eventsLost) {
      const order = checkOrder({ modem, expected, entries, disturbances, findings });
      totals.orderCompared += order.compared;
      totals.orderExcused += order.excused;
    }
    const { claimedUntilMs } = this.#run;
    const claims = this.#run.claims[modem] ?? [];
    const { claimed, cut } = checkClaims({ rows: received, claims, claimedUntilMs, findings });
    const statuses = checkSent({
      modem,
      disturbances,
      findings,
      air: this.#air,
      delivered: this.#run.delivered,
      outbound: this.#outbound[modem] ?? [],
      rows: oldestFirst.filter(({ direction }) => direction === 'sent'),
    });
    totals.received += received.length;
    totals.claimed += claimed;
    totals.claimsCut += cut;
    for (const [status, count] of statuses)
      totals.statuses.set(status, (totals.statuses.get(status) ?? 0) + count);
  }
}
