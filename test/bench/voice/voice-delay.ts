// The time that audio takes through all of it, each way, with 16 calls at once and with 64; and how soon a clear is silence.
import { setTimeout as pause } from 'node:timers/promises';
import { FRAME_BYTES, FRAME_MS, FRAME_SAMPLES, samplesOf } from '#shared/voice/media.ts';
import { type Measurement, percentile } from '../report.ts';
import { withTemporaryFolder } from '../temporary-folder.ts';
import { type BenchCall, startVoiceRack } from './voice-rack.ts';

const CALLS = (process.env['VOICE_CALLS'] ?? '16,64').split(',').map(Number);
/** Length of the measurement; an hour shows more: VOICE_MINUTES=60. */
const MINUTES = Number(process.env['VOICE_MINUTES'] ?? 1);
/** Long enough to catch up with what waited while the calls began. */
const WARM_UP_MS = 30_000;
const READ_EVERY_MS = 10_000;
/** Jitter of the network between client and service: the most that a frame is late. */
const JITTER_MS = 20;
/** Bursts of a tone, five frames in 23: what begins one is the same frame on all its way. */
const PERIOD_FRAMES = 23;
const LOUD_FRAMES = 5;
const LOUD_PEAK = 4_000;
/** A burst is heard within this time, or is lost. */
const HEARD_WITHIN_MS = 400;
/** The clocks of two programs on this machine. */
const CLOCKS_DIFFER_MS = 2;
const AHEAD_FRAMES = 50;
const CLEARS_PER_CALL = 4;

const SILENCE = Buffer.alloc(FRAME_BYTES);
/** 1 kHz in whole periods, twice as loud as the threshold. */
const TONE = Buffer.from(
  Int16Array.from({ length: FRAME_SAMPLES }, (_, index) => 8_000 * Math.sin((Math.PI * index) / 8)).buffer,
);
const frameAt = (index: number): Buffer => (index % PERIOD_FRAMES < LOUD_FRAMES ? TONE : SILENCE);

/** Milliseconds since the epoch, as in the simulator's times. */
const now = (): number => performance.timeOrigin + performance.now();

/** Times of beginnings of bursts. */
class Onsets {
  readonly atMs: number[] = [];
  #isLoud = false;

  note(peak: number, atMs: number): void {
    const isLoud = peak > LOUD_PEAK;
    if (isLoud && !this.#isLoud) this.atMs.push(atMs);
    this.#isLoud = isLoud;
  }
}

/** Both ways of one call, at both ends. */
class MeteredCall {
  readonly #call: BenchCall;
  readonly #said = new Onsets();
  readonly #heard = new Onsets();
  readonly #given = new Onsets();
  readonly #taken = new Onsets();
  readonly #last = { to_host: 0, from_host: 0 };
  #clientFrame = 0;
  #farFrame = 0;

  constructor(call: BenchCall) {
    this.#call = call;
    call.client.on('message', (data: Buffer, isBinary) => {
      if (isBinary) this.#heard.note(peakOf(data), now());
    });
  }

  /** Every 20 ms: one frame of the client, late as the network has it, and what the far end says next. */
  step(tick: number): void {
    setTimeout(() => {
      const frame = frameAt(this.#clientFrame);
      this.#clientFrame += 1;
      this.#said.note(frame === TONE ? 2 * LOUD_PEAK : 0, now());
      this.#call.client.send(frame);
    }, Math.random() * JITTER_MS);
    while (this.#farFrame < tick + AHEAD_FRAMES) {
      this.#call.far.send(frameAt(this.#farFrame));
      this.#farFrame += 1;
    }
  }

  /** Reads what the simulator has noted since. */
  async read(): Promise<void> {
    for (const direction of ['to_host', 'from_host'] as const) {
      const frames = await this.#call.frames(direction, this.#last[direction]);
      this.#last[direction] = frames.at(-1)?.id ?? this.#last[direction];
      for (const frame of frames)
        if (direction === 'to_host') this.#given.note(frame.peak, frame.at_ms);
        else this.#taken.note(frame.peak, frame.arrived_at_ms ?? 0);
    }
  }

  /** Milliseconds of each burst: from the modem (with the 20 ms of the frame), and to it; and bursts that were not heard. */
  delays(since: number): { up: number[]; down: number[]; lost: { up: number; down: number } } {
    const until = now() - HEARD_WITHIN_MS;
    const between = (atMs: number): boolean => atMs >= since && atMs <= until;
    const up = waits(this.#given.atMs.filter(between), this.#heard.atMs);
    const down = waits(this.#said.atMs.filter(between), this.#taken.atMs);
    const isHeard = (wait: number | undefined): wait is number => wait !== undefined;
    const lost = (of: readonly (number | undefined)[]): number => of.filter((wait) => !isHeard(wait)).length;
    return {
      up: up.filter(isHeard).map((wait) => wait + FRAME_MS),
      down: down.filter(isHeard),
      lost: { up: lost(up), down: lost(down) },
    };
  }

  /** Has two seconds wait, says clear, and listens: milliseconds until the far end heard the last of it. */
  async clear(): Promise<number> {
    const { client, far } = this.#call;
    let lastLoudAt = Number.NaN;
    const listen = (frame: Buffer): void => {
      const samples = samplesOf(frame);
      const last = samples.findLastIndex((sample) => Math.abs(sample) > LOUD_PEAK / 4);
      if (last >= 0) lastLoudAt = now() + (last * FRAME_MS) / samples.length;
    };
    far.on('message', listen);
    client.send(Buffer.concat(Array.from({ length: 100 }, () => TONE)));
    await pause(400 + Math.random() * FRAME_MS);
    const saidAt = now();
    client.send('{"type":"clear"}');
    await pause(500);
    far.off('message', listen);
    return lastLoudAt - saidAt;
  }

  /** The simulator's counts, and those of the record. */
  async end(): Promise<Record<string, number>> {
    const line = await this.#call.line();
    const { audio } = await this.#call.hangUp();
    return { ...line, ...(audio as Record<string, number>) };
  }
}

/** Measured with 16 calls on a quiet machine with two cores. The same targets hold for 64 calls. */
const TARGET_MS = { up: [20, 25], down: [41, 55], clear: [39, 49] } as const;

export async function benchVoiceDelay(): Promise<Measurement[]> {
  const measured: Measurement[] = [];
  for (const calls of CALLS)
    measured.push(...(await withTemporaryFolder((folder) => measure(folder, calls))));
  return measured;
}

async function measure(folder: string, callCount: number): Promise<Measurement[]> {
  const rack = await startVoiceRack(folder, callCount);
  try {
    const calls = rack.calls.map((call) => new MeteredCall(call));
    const startedAt = performance.now();
    const since = now() + WARM_UP_MS;
    const lastMs = WARM_UP_MS + MINUTES * 60_000;
    let readAtMs = READ_EVERY_MS;
    let first: Promise<Record<string, number>[]> | undefined;
    for (let tick = 0; tick * FRAME_MS < lastMs; tick += 1) {
      for (const call of calls) call.step(tick);
      if (tick * FRAME_MS >= WARM_UP_MS) first ??= Promise.all(rack.calls.map((call) => call.line()));
      if (tick * FRAME_MS >= readAtMs) {
        readAtMs += READ_EVERY_MS;
        void Promise.all(calls.map((call) => call.read()));
      }
      await pause(Math.max(0, startedAt + (tick + 1) * FRAME_MS - performance.now()));
    }
    await pause(HEARD_WITHIN_MS);
    for (const call of calls) await call.read();
    const delays = calls.map((call) => call.delays(since));
    const before = await Promise.all(rack.calls.map((call) => call.line()));
    const clears: number[] = [];
    for (let round = 0; round < CLEARS_PER_CALL; round += 1)
      for (const call of calls) clears.push(await call.clear());
    const ends = await Promise.all(calls.map((call) => call.end()));
    const sum = (of: readonly Record<string, number>[], name: string): number =>
      of.reduce((total, each) => total + (each[name] ?? 0), 0);
    const up = delays.flatMap((each) => each.up);
    const down = delays.flatMap((each) => each.down);
    const lostOf = (way: 'up' | 'down'): number => delays.reduce((total, { lost }) => total + lost[way], 0);
    const counted = ['lost_frames', 'late_frames', 'dropped_frames', 'capture_gaps', 'undelivered_frames']
      .map((name) => `${name} ${sum(ends, name)}`)
      .join(', ');
    const of = `${up.length} and ${down.length} bursts, ${MINUTES} min; lost ${lostOf('up')} and ${lostOf('down')}; ${counted}; simulator: skipped ${sum(before, 'frames_skipped')}`;
    return [
      ...entries(`${callCount} calls, modem to client`, up, TARGET_MS.up, of),
      ...entries(`${callCount} calls, client to modem, jitter 20 ms`, down, TARGET_MS.down),
      ...entries(`${callCount} calls, clear to silence on the line`, clears, TARGET_MS.clear),
      {
        ...entry(
          `${callCount} calls, frames of silence in between`,
          [sum(before, 'underruns') - sum((await first) ?? [], 'underruns')],
          0,
        ),
        unit: 'frames',
      },
      {
        ...entry(`${callCount} calls, bursts lost, both ways`, [lostOf('up') + lostOf('down')], 0),
        unit: 'bursts',
      },
    ];
  } finally {
    await rack.stop();
  }
}

/** p50 and p99. */
const entries = (
  name: string,
  times: readonly number[],
  targets: readonly [number, number],
  remark?: string,
): Measurement[] =>
  [50, 99].map((percent, index) =>
    entry(`${name}, p${percent}`, [percentile(times, percent)], targets[index] ?? 0, remark),
  );

const entry = (name: string, rounds: readonly number[], atMost: number, remark = ''): Measurement => ({
  name,
  rounds,
  unit: 'ms',
  target: { atMost },
  remark,
});

const peakOf = (octets: Buffer): number =>
  samplesOf(octets).reduce((peak, each) => Math.max(peak, Math.abs(each)), 0);

/** For each beginning the time until the same burst is heard, undefined where it is not. */
function waits(from: readonly number[], to: readonly number[]): (number | undefined)[] {
  let next = 0;
  return from.map((atMs) => {
    while (next < to.length && (to[next] ?? 0) < atMs - CLOCKS_DIFFER_MS) next += 1;
    const heardAt = to[next];
    return heardAt !== undefined && heardAt - atMs <= HEARD_WITHIN_MS ? heardAt - atMs : undefined;
  });
}
