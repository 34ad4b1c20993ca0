// Breaks what the plan says, when the run has come that far, and writes down from when to when.
import { setMaxListeners } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import type { PlannedDisturbance } from './disturbance-plan.ts';
import type { Rack } from './rack.ts';
import type { DisturbanceRecord } from './record.ts';
import type { SimulatedCarrier } from './simulated-carrier.ts';

export class Disturber {
  readonly records: DisturbanceRecord[] = [];
  /** Planned ones that could not be played, such as a name that was taken. */
  skipped = 0;
  readonly #rack: Rack;
  readonly #carrier: SimulatedCarrier;
  readonly #plan: readonly PlannedDisturbance[];
  readonly #ending = new AbortController();
  readonly #underWay = new Set<Promise<void>>();
  /** One program is broken in one way at a time. */
  readonly #programs = new Map<string, Promise<void>>();
  #next = 0;

  constructor(parts: { rack: Rack; carrier: SimulatedCarrier; plan: readonly PlannedDisturbance[] }) {
    this.#rack = parts.rack;
    this.#carrier = parts.carrier;
    this.#plan = parts.plan;
    // One for each disturbance that is under way.
    setMaxListeners(Number.POSITIVE_INFINITY, this.#ending.signal);
  }

  /** Reports how many messages were accepted so far. */
  onProgress(accepted: number): void {
    for (let due = this.#plan[this.#next]; due !== undefined; due = this.#plan[this.#next]) {
      if (due.atProgress > accepted) return;
      this.#next += 1;
      const playing = this.#play(due).catch(() => {
        this.skipped += 1;
      });
      this.#underWay.add(playing);
      void playing.finally(() => this.#underWay.delete(playing));
    }
  }

  /** Begins nothing more, mends everything, and resolves when all programs are up. */
  async heal(modems: number): Promise<void> {
    this.#next = this.#plan.length;
    this.#ending.abort();
    await Promise.all(this.#underWay);
    await Promise.all(this.#programs.values());
    for (let modem = 0; modem < modems; modem += 1) await this.#carrier.clearFaults(modem);
  }

  /** Played, by name. */
  counts(): Map<string, number> {
    const counts = new Map<string, number>();
    for (const { what, target } of this.records) {
      const name = typeof target === 'string' ? `${what} ${target}` : what;
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    return counts;
  }

  async #play(planned: PlannedDisturbance): Promise<void> {
    await this.#pause(planned.delayMs);
    if (this.#ending.signal.aborted) return;
    if (planned.what === 'fault') return this.#playFault(planned);
    const { program } = planned;
    const turn = (this.#programs.get(program) ?? Promise.resolve()).then(() => this.#breakProgram(planned));
    this.#programs.set(
      program,
      turn.catch(() => undefined),
    );
    await turn;
  }

  async #playFault({ name, modem, fault, mayReorder }: Extract<PlannedDisturbance, { what: 'fault' }>) {
    const record = this.#begin({ what: name, target: modem, mayReorder, detail: JSON.stringify(fault.body) });
    if (!(await this.#carrier.play(modem, fault.body))) {
      this.records.splice(this.records.indexOf(record), 1);
      this.skipped += 1;
      return;
    }
    await this.#pause(fault.lastsMs);
    if (fault.lastsMs > 0) await this.#carrier.clearFaults(modem);
    record.untilMs = Date.now();
  }

  async #breakProgram(planned: Exclude<PlannedDisturbance, { what: 'fault' }>): Promise<void> {
    if (this.#ending.signal.aborted) return;
    const { what, program } = planned;
    await this.#rack.awaitUp(program);
    const record = this.#begin({ what, target: program, mayReorder: false, detail: '' });
    if (planned.what === 'kill') await this.#rack.kill(program);
    else await this.#rack.stall(program, planned.lastsMs);
    record.untilMs = Date.now();
  }

  #begin(what: Omit<DisturbanceRecord, 'fromMs' | 'untilMs'>): DisturbanceRecord {
    const record = { ...what, fromMs: Date.now(), untilMs: Number.POSITIVE_INFINITY };
    this.records.push(record);
    return record;
  }

  /** Ends early when everything is mended. */
  async #pause(ms: number): Promise<void> {
    await pause(ms, undefined, { signal: this.#ending.signal }).catch(() => undefined);
  }
}
