// Plays a plan: the service's parts, payers, strangers and the chain in turns; then gives everything time to settle.
import type { Hex } from 'viem';
import { DatabaseUnavailable, Refusal } from '#control-plane/domain/refusal.ts';
import { PaymentRejected } from '#control-plane/payments/rejection.ts';
import { openPaymentOf } from '#control-plane/store/money/payers.ts';
import { findSubscriptionByWallet } from '#control-plane/store/money/subscriptions.ts';
import { ManualClock } from '../fixtures/clocks/manual-clock.ts';
import { type Authorization, addressOf, headersOf, sign } from './authorizations.ts';
import type { World } from './chain-client.ts';
import { HAS_YEAR } from './judge.ts';
import type { Lane, PaymentRow } from './lane.ts';
import { type Action, type Plan, type ProtocolName, streamOf } from './plan.ts';
import type { Answer, AuthorizationRecord, Presentation, SequenceRecord, Snapshot } from './record.ts';
import { forgetFacilitators } from './scripted-facilitator.ts';
import { type Mutation, type ServiceProcess, startProcess } from './service-process.ts';
import { BLOCK_S, SimulatedChain } from './simulated-chain.ts';
import { Turns } from './turns.ts';

const START = Date.UTC(2026, 0, 15);
const MINUTE_MS = 60_000;
const ALL_TURNS = 2_000;
/** The longest that anything may take: the life of an authorization, a day in which its use is searched, and rounds. */
const SETTLE_MS = (24 + 24 + 6) * 60 * MINUTE_MS;
const SETTLE_STEP_MS_MAX = 60 * MINUTE_MS;
/** The longest time until a round finds a payment: the pause between two checks of a payment, and one round. */
const TRANSFER_GAS = 200_000n;

export async function runSequence(plan: Plan, lane: Lane, mutation: Mutation = {}): Promise<SequenceRecord> {
  const run = new SequenceRun(plan, lane, mutation);
  await lane.reset(plan.numbers);
  return run.play();
}

class SequenceRun {
  readonly #plan: Plan;
  readonly #lane: Lane;
  readonly #mutation: Mutation;
  readonly #clock = new ManualClock(START);
  readonly #world: World;
  readonly #signed = new Map<number, Authorization>();
  readonly #authorizations: AuthorizationRecord[] = [];
  readonly #record: SequenceRecord;
  #process: ServiceProcess;
  #open = new Set<Presentation>();
  #isReconciling = false;
  #isConfirming = false;
  #moment = 0;
  #step = 0;
  readonly #random: (below: number) => number;

  constructor(plan: Plan, lane: Lane, mutation: Mutation) {
    this.#plan = plan;
    this.#lane = lane;
    this.#mutation = mutation;
    this.#random = streamOf(plan.seed, 2);
    const accounts = plan.payers.map(({ kind, balance }) => ({ kind, balance }));
    const chain = new SimulatedChain(this.#clock, accounts, streamOf(plan.seed, 3));
    this.#world = {
      chain,
      random: streamOf(plan.seed, 4),
      weather: { kind: 'calm' },
      turns: new Turns(streamOf(plan.seed, 5), (point) => this.#die(point)),
      authorizations: new Map(),
      signed: new Map(),
      noteSent: ({ id }) => this.#note(id, 'sentAt'),
      noteShown: ({ id }) => this.#note(id, 'shownAt'),
    };
    this.#record = {
      plan,
      authorizations: this.#authorizations,
      presentations: [],
      signIns: [],
      snapshots: [],
      settledFromMs: 0,
      roundGapMs: 0,
      reorganisedAt: [],
      deaths: [],
      mined: [],
      refused: [],
      rows: [],
      subscriptions: [],
      isRelayerWaiting: false,
      numbersFree: 0,
    };
    this.#process = this.#start();
  }

  async play(): Promise<SequenceRecord> {
    const { steps } = this.#plan;
    for (const [step, { action, turns }] of steps.entries()) {
      this.#step = step;
      await this.#act(action);
      await this.#world.turns.some(turns);
      await this.#look();
    }
    await this.#settle();
    const record = this.#record;
    record.mined = this.#world.chain.mined;
    for (const transaction of record.mined) this.#noteRefused(transaction);
    record.isRelayerWaiting = this.#world.chain.isRelayerWaiting;
    record.subscriptions = await this.#lane.subscriptions();
    record.numbersFree = this.#numbersFree(record.rows);
    this.#world.turns.end(this.#process.life, 'the end');
    forgetFacilitators(this.#world);
    return record;
  }

  async #act(action: Action): Promise<void> {
    const { chain } = this.#world;
    switch (action.kind) {
      case 'present':
        return this.#present(action.authorization, action.protocol);
      case 'cancel':
        return this.#submit('cancel', action);
      case 'submit':
        return this.#submit('transfer', action);
      case 'withdraw':
        return chain.move(action.payer, -chain.balanceOf(action.payer));
      case 'fund':
        return chain.move(action.payer, 2);
      case 'turncoat':
        return this.#turn(action.payer);
      case 'sign_in':
        return this.#signIn(action.payer);
      case 'seconds':
        this.#clock.advance(action.count * 1000);
        return chain.mine(false);
      case 'minutes':
        for (let minute = 0; minute < action.count; minute += 1) await this.#round(MINUTE_MS);
        return;
      case 'expire':
        return this.#expire(action.authorization);
      case 'reorganise': {
        const gone = chain.reorganise(action.blocks, action.isLost);
        const authorizations = gone.map(({ authorization }) => authorization.id);
        this.#record.reorganisedAt.push({ step: this.#step, authorizations });
        return;
      }
      case 'evict':
        chain.pending = [];
        return;
      case 'weather':
        if (action.weather.kind === 'dear') chain.fee += 1;
        this.#world.weather = action.weather;
        return;
      case 'kill':
        this.#process.life.pointsLeft = action.points;
    }
  }

  #authorization(id: number): Authorization {
    const known = this.#signed.get(id);
    if (known !== undefined) return known;
    const planned = this.#plan.authorizations[id];
    if (planned === undefined) throw new Error(`no authorization ${id} in the plan`);
    const isAccount = this.#world.chain.accounts[planned.payer]?.kind !== 'key';
    const signed = sign({ ...planned, id }, { now: new Date(this.#clock.now()), isAccount });
    this.#signed.set(id, signed);
    this.#world.authorizations.set(signed.nonce, signed);
    const { nonce, payer, validBefore } = signed;
    this.#authorizations.push({ id, payer, nonce, validBefore, sentAt: undefined, shownAt: undefined });
    return signed;
  }

  #present(id: number, protocol: ProtocolName): void {
    const authorization = this.#authorization(id);
    const presentation: Presentation = {
      step: this.#step,
      authorization: id,
      protocol,
      startedAt: this.#tick(),
      wasPaidAtStart: this.#world.chain.hasPaid(authorization),
      wasLagging: this.#world.weather.kind === 'lagging',
      answer: { kind: 'none' },
      hadPaid: false,
      couldMove: false,
    };
    this.#record.presentations.push(presentation);
    this.#open.add(presentation);
    const answered = (answer: Answer): void => {
      if (!this.#open.delete(presentation)) return;
      presentation.answer = answer;
      presentation.wasLagging ||= this.#world.weather.kind === 'lagging';
      presentation.hadPaid = this.#world.chain.hasPaid(authorization);
      presentation.couldMove = this.#couldMove(authorization);
    };
    this.#process.pay(headersOf(authorization, protocol)).then(
      ({ subscription }) => answered({ kind: 'paid', number: subscription.number }),
      (error: unknown) => answered(answerOf(error)),
    );
  }

  /** It can be mined, and the service has had to do with that. */
  #couldMove(authorization: Authorization): boolean {
    const { chain } = this.#world;
    const sentAt = this.#authorizations.find(({ id }) => id === authorization.id)?.sentAt;
    const isOver = chain.head * BLOCK_S >= authorization.validBefore;
    return sentAt !== undefined && !isOver && chain.useOf(authorization) === undefined;
  }

  #submit(
    kind: 'transfer' | 'cancel',
    { authorization: id, isFirst }: { authorization: number; isFirst: boolean },
  ): void {
    const { chain } = this.#world;
    const authorization = this.#authorization(id);
    const hash = `0x${kind === 'cancel' ? 'cc' : 'bb'}${String(this.#tick()).padStart(62, '0')}` as Hex;
    const gas = { gasLimit: TRANSFER_GAS, fee: chain.fee, isFirst, nonce: undefined };
    chain.add({ hash, kind, authorization, sender: 'stranger', ...gas });
  }

  /** Code that behaved lies from now on, or the other way round. */
  #turn(payer: number): void {
    const account = this.#world.chain.accounts[payer];
    if (account?.kind === 'account') account.kind = 'liar';
    else if (account?.kind === 'liar') account.kind = 'account';
  }

  /** As `/auth` decides, once the signature is checked. */
  async #signIn(payer: number): Promise<void> {
    const now = new Date(this.#clock.now());
    const wallet = addressOf(payer);
    const subscription = await findSubscriptionByWallet(this.#lane.db, wallet);
    const open = await openPaymentOf(this.#lane.db, wallet, now);
    const closed = open === undefined ? 'no_active_subscription' : 'settlement_pending';
    const isActive = subscription !== undefined && subscription.expiresAt > now;
    const rows = await this.#lane.payments();
    const openAuthorizations = [...this.#signed.values()].filter((authorization) => {
      const state = rows.find(({ nonce }) => nonce === authorization.nonce)?.state;
      if (authorization.payer !== payer || state === undefined) return false;
      // A reorganisation may take back what the chain showed of it.
      const isCancelled = this.#record.reorganisedAt.some((one) =>
        one.authorizations.includes(authorization.id),
      );
      return this.#couldMove(authorization) && state !== 'applied' && !isCancelled;
    });
    const ids = openAuthorizations.map(({ id }) => id);
    const answer = isActive ? 'active' : closed;
    this.#record.signIns.push({ step: this.#step, payer, answer, openAuthorizations: ids });
  }

  async #expire(id: number): Promise<void> {
    const end = (this.#authorization(id).validBefore + 1 + this.#random(20)) * 1000;
    for (let gap = MINUTE_MS; this.#clock.now() < end; gap *= 2) {
      await this.#round(Math.min(gap, end - this.#clock.now()));
    }
  }

  /** That much later: a block, and the work of the service in each minute. */
  async #round(afterMs: number): Promise<void> {
    // A request waits for no call as long as that; unless the whole process was stopped.
    if (this.#random(8) > 0) await this.#world.turns.some(ALL_TURNS);
    this.#clock.advance(Math.max(0, afterMs - BLOCK_S * 1000));
    this.#world.chain.mine(false);
    this.#startRounds();
    await this.#world.turns.some(ALL_TURNS);
  }

  #startRounds(): void {
    const process = this.#process;
    if (!this.#isReconciling) {
      this.#isReconciling = true;
      const end = (): void => {
        if (process === this.#process) this.#isReconciling = false;
      };
      process.reconcile().then(end, end);
    }
    if (!this.#isConfirming) {
      this.#isConfirming = true;
      const end = (): void => {
        if (process === this.#process) this.#isConfirming = false;
      };
      process.finality().then(end, end);
    }
  }

  /** Everything answers from now on, and time passes until nothing is open. */
  async #settle(): Promise<void> {
    const record = this.#record;
    this.#step += 1;
    this.#world.weather = { kind: 'calm' };
    this.#process.life.pointsLeft = Number.POSITIVE_INFINITY;
    record.settledFromMs = this.#clock.now();
    const end = this.#clock.now() + SETTLE_MS;
    for (let gap = MINUTE_MS, round = 0; ; round += 1) {
      await this.#round(gap);
      record.roundGapMs = Math.max(record.roundGapMs, gap);
      const { rows } = await this.#look();
      record.rows = rows;
      const isOver =
        rows.every((row) => isSettled(row, this.#numbersFree(rows))) && !this.#world.chain.isRelayerWaiting;
      if (isOver || this.#clock.now() >= end) break;
      if (round >= 3) gap = Math.min(gap * 2, SETTLE_STEP_MS_MAX);
    }
    for (const presentation of this.#open) presentation.answer = { kind: 'none' };
  }

  #numbersFree(rows: readonly PaymentRow[]): number {
    const holders = rows.filter(
      ({ reservedNumber, state }) => reservedNumber !== null || HAS_YEAR.has(state),
    );
    return this.#plan.numbers - new Set(holders.map(({ payer }) => payer)).size;
  }

  async #look(): Promise<Snapshot> {
    const snapshot = { step: this.#step, atMs: this.#clock.now(), rows: await this.#lane.payments() };
    this.#record.snapshots.push(snapshot);
    return snapshot;
  }

  #start(): ServiceProcess {
    const { submitter } = this.#plan;
    return startProcess({ world: this.#world, db: this.#lane.db, submitter, mutation: this.#mutation });
  }

  #die(point: string): void {
    if (point === 'the end') return;
    this.#record.deaths.push(`step ${this.#step}: ${point}`);
    this.#open.clear();
    this.#isReconciling = false;
    this.#isConfirming = false;
    this.#process = this.#start();
  }

  #noteRefused(transaction: SequenceRecord['mined'][number]): void {
    const { authorization, blockNumber, gasUsed, outcome, sender } = transaction;
    if (sender !== 'relayer' || outcome !== 'refused') return;
    const { id, payer } = authorization;
    this.#record.refused.push({ payer, authorization: id, atMs: blockNumber * BLOCK_S * 1000, gasUsed });
  }

  #note(id: number, what: 'sentAt' | 'shownAt'): void {
    const record = this.#authorizations.find((one) => one.id === id);
    if (record !== undefined) record[what] ??= this.#tick();
  }

  #tick(): number {
    this.#moment += 1;
    return this.#moment;
  }
}

/** Nothing will change it any more; or it waits for a number. */
function isSettled({ isFinal, state, transferHash }: PaymentRow, numbersFree: number): boolean {
  if (state === 'applied') return isFinal;
  if (state === 'in_flight' || state === 'reverted') return transferHash !== null && numbersFree <= 0;
  return state !== 'claimed';
}

function answerOf(error: unknown): Answer {
  if (error instanceof PaymentRejected) return { kind: 'rejected', code: error.code };
  if (error instanceof Refusal) return { kind: 'refused', code: error.code };
  if (error instanceof DatabaseUnavailable) return { kind: 'refused', code: 'unavailable' };
  return {
    kind: 'failed',
    error: error instanceof Error ? `${error.name}: ${error.message}` : String(error),
  };
}
