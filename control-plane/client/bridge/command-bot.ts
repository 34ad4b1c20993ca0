// A bot that is a program: it hears the far end on standard input and speaks on standard output, both as 16 kHz samples.
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { serverFrameSchema } from '#shared/api/voice-frames.ts';
import { jsonOf } from '#shared/json.ts';
import { FRAME_BYTES, FRAME_MS } from '#shared/voice/media.ts';
import { type Bot, type BotCall, BotError, type BotHost, type ConnectBot } from './bot.ts';
import { CONTROL_STDIO, ProgramControl } from './program-control.ts';

/** Audio between two marks: 200 ms. */
const MARK_BYTES = 10 * FRAME_BYTES;

/** Audio that the service has and the far end has not heard: 20 s of the 60 s that the service queues. */
const AHEAD_MARKS = 20_000 / ((MARK_BYTES / FRAME_BYTES) * FRAME_MS);

/** Two seconds: a program that reads more slowly misses audio. */
const UNREAD_BYTES_MAX = 100 * FRAME_BYTES;

/** Requests before the stream is open. */
const EARLY_MAX = 100;

/** A program that ignores the end of its input and SIGTERM for this long is killed. */
const KILL_MS = 5_000;

type Environment = Readonly<Record<string, string | undefined>>;

/** Secrets of this program; its bots do not need them. */
const SECRETS = ['SIMRACK_TOKEN', 'TOKEN', 'WALLET_KEY', 'TWILIO_AUTH_TOKEN'];

const CLEAR = JSON.stringify({ type: 'clear' });

interface CommandBotOptions {
  /** The program also reads events from file descriptor 3, and writes requests to 4; see `ProgramControl`. */
  control?: boolean;
}

/** Starts `command` with a shell for each call. To `environment`, usually that of the command, it adds `SIMRACK_CALL_ID`, `SIMRACK_FROM`, `SIMRACK_TO`, `SIMRACK_DIRECTION`. */
export const commandBot =
  (command: string, environment: Environment, { control = false }: CommandBotOptions = {}): ConnectBot =>
  async (call, host, signal) => {
    signal.throwIfAborted();
    // A group of its own, so that what the shell starts ends with it.
    const child = spawn(command, {
      shell: true,
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe', ...(control ? CONTROL_STDIO : [])],
      env: environmentOf(call, environment),
    }) as ChildProcessWithoutNullStreams;
    child.stderr.pipe(process.stderr, { end: false });
    try {
      await once(child, 'spawn', { signal });
    } catch (error) {
      signal.throwIfAborted();
      throw new BotError(`cannot start ${command}: ${(error as Error).message}`);
    }
    return new CommandBot(child, { command, control }, host);
  };

function environmentOf({ callId, from, to, direction }: BotCall, environment: Environment): Environment {
  const env = { ...environment };
  for (const name of SECRETS) Reflect.deleteProperty(env, name);
  return {
    ...env,
    SIMRACK_CALL_ID: callId,
    SIMRACK_FROM: from ?? '',
    SIMRACK_TO: to ?? '',
    SIMRACK_DIRECTION: direction,
  };
}

class CommandBot implements Bot {
  readonly protocol = 'raw';
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #host: BotHost;
  #isStreamOpen = false;
  #odd: Buffer | undefined;
  #unmarkedBytes = 0;
  #marksSent = 0;
  #marksPlayed = 0;
  #isEnded = false;
  #isClosed = false;
  readonly #control: ProgramControl | undefined;
  /** Requests that came while the stream was not open. */
  #early: string[] = [];
  /** Until the service has cleared, speech of the program is dropped. */
  #isClearing = false;

  constructor(
    child: ChildProcessWithoutNullStreams,
    { command, control }: { command: string; control: boolean },
    host: BotHost,
  ) {
    this.#child = child;
    this.#host = host;
    if (control)
      this.#control = new ProgramControl(child, {
        onClear: () => this.#clear(),
        onRequest: (text) => this.#request(text),
        onNote: (words) => this.#host.note(words),
      });
    child.stdout.pause();
    child.stdout.on('data', (data: Buffer) => this.#onSpeech(data));
    child.stdin.on('error', () => undefined);
    child.on('error', (error) => host.failed(`${command}: ${error.message}`));
    // After the end of its output, too.
    child.on('close', (code, signal) => {
      this.#isClosed = true;
      // Ends its programs in the background, too.
      this.#signal('SIGKILL');
      if (code === 0) host.done('the program has ended');
      else host.failed(`the program failed: ${command} ended with ${signal ?? `exit code ${code}`}`);
    });
  }

  receive(data: Buffer, isBinary: boolean): void {
    if (!isBinary) {
      const frame = serverFrameSchema.safeParse(jsonOf(data.toString())).data;
      if (frame?.type === 'mark') this.#marksPlayed += 1;
      else if (frame?.type === 'cleared') this.#onCleared(frame);
      else if (frame !== undefined) this.#control?.send(JSON.stringify(frame));
      this.#pace();
      return;
    }
    if (this.#child.stdin.writableLength <= UNREAD_BYTES_MAX) this.#child.stdin.write(data);
    else this.#host.note('the program reads too slowly: audio is dropped');
  }

  /** Marks that were under way do not come any more. */
  reopened(): void {
    this.#marksPlayed = this.#marksSent;
    // The service answers each `clear`.
    if (this.#isClearing && !this.#early.includes(CLEAR)) this.#early.unshift(CLEAR);
  }

  pause(): void {
    this.#isStreamOpen = false;
    this.#pace();
  }

  resume(): void {
    this.#isStreamOpen = true;
    for (const text of this.#early.splice(0)) this.#host.send(text);
    this.#pace();
  }

  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#child.stdin.end();
    this.#control?.end();
    this.#child.stdout.resume();
    if (this.#isClosed) return;
    this.#signal('SIGTERM');
    const timer = setTimeout(() => this.#signal('SIGKILL'), KILL_MS);
    this.#child.once('close', () => clearTimeout(timer));
  }

  #onSpeech(data: Buffer): void {
    if (this.#isEnded) return;
    const bytes = this.#odd === undefined ? data : Buffer.concat([this.#odd, data]);
    const whole = bytes.length - (bytes.length % 2);
    this.#odd = whole < bytes.length ? bytes.subarray(whole) : undefined;
    if (whole === 0 || this.#isClearing) return;
    this.#host.send(bytes.subarray(0, whole));
    this.#unmarkedBytes += whole;
    while (this.#unmarkedBytes >= MARK_BYTES) {
      this.#unmarkedBytes -= MARK_BYTES;
      this.#marksSent += 1;
      this.#host.send(JSON.stringify({ type: 'mark', name: `bridge ${this.#marksSent}` }));
    }
    this.#pace();
  }

  /** Reads no further ahead than the service may queue. */
  #pace(): void {
    const isNear = this.#marksSent - this.#marksPlayed < AHEAD_MARKS;
    if (this.#isClearing || (this.#isStreamOpen && isNear)) this.#child.stdout.resume();
    else this.#child.stdout.pause();
  }

  #request(text: string): void {
    if (this.#isStreamOpen) this.#host.send(text);
    // One at most waits; without it the program stays mute.
    else if (text === CLEAR || this.#early.length < EARLY_MAX) this.#early.push(text);
    else this.#host.note('the program asks too much before the call: requests are dropped');
  }

  /** The far end interrupts. */
  #clear(): void {
    if (this.#isClearing) return;
    this.#isClearing = true;
    this.#request(CLEAR);
    this.#pace();
  }

  /** Speech from before the `clear` may still be in the pipe. Two turns of the event loop read and drop it. */
  #onCleared({ played_ms, dropped_ms }: { played_ms: number; dropped_ms: number }): void {
    this.#marksPlayed = this.#marksSent;
    this.#unmarkedBytes = 0;
    setImmediate(() =>
      setImmediate(() => {
        this.#isClearing = false;
        this.#control?.send(JSON.stringify({ type: 'cleared', played_ms, dropped_ms }));
        this.#pace();
      }),
    );
  }

  #signal(name: 'SIGTERM' | 'SIGKILL'): void {
    try {
      if (this.#child.pid !== undefined) process.kill(-this.#child.pid, name);
    } catch {
      // It has ended.
    }
  }
}
