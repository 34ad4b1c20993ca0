// One of our programs as a child: started, watched, started again when it dies, stopped.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { commandOf } from './program-command.ts';

const PROJECT_FOLDER = join(dirname(fileURLToPath(import.meta.url)), '../..');

/** A busy machine takes half a minute for what takes two seconds alone. */
const READY_TIMEOUT_MS = 90_000;
const STOP_TIMEOUT_MS = 12_000;

/** Pause before a program that died is started again, doubled up to the second number while it keeps dying. */
const RESTART_DELAY_MS = { first: 100, max: 5_000 } as const;

/** In the project's folder. */
const PROGRAMS = {
  'control-plane': 'control-plane/bin.mjs',
  'node-daemon': 'node-daemon/bin.cjs',
  'hardware-sim': 'hardware-sim/bin.mjs',
} as const;

/** Flags of Node. V8 spends seconds on optimizing the code of the embedded database, and few stacks run so long that this pays. */
const FLAGS = { 'control-plane': ['--liftoff-only'], 'node-daemon': [], 'hardware-sim': [] } as const;

export interface ProgramSpec {
  program: keyof typeof PROGRAMS;
  /** In messages. */
  name: string;
  env: Record<string, string>;
  /** Gets what the program writes to standard error; emptied at the first start. */
  logFile: string;
  /** Called when the program died and is started again, and when it is ready after that. */
  onEvent?: (text: string) => void;
}

export class Program {
  readonly #spec: ProgramSpec;
  #child: ChildProcess | undefined;
  #isStopping = false;
  #restartDelayMs: number = RESTART_DELAY_MS.first;
  #restart: NodeJS.Timeout | undefined;

  constructor(spec: ProgramSpec) {
    this.#spec = spec;
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  /** Its own, beside the environment that it inherits. */
  get env(): Readonly<Record<string, string>> {
    return this.#spec.env;
  }

  /** Starts the program and resolves with the JSON line that it prints when it is ready. */
  async start(): Promise<Record<string, unknown>> {
    closeSync(openSync(this.#spec.logFile, 'w'));
    const ready = await this.#spawn();
    return ready;
  }

  /** Environment for the next start, beside what it was started with. */
  setEnv(env: Record<string, string>): void {
    Object.assign(this.#spec.env, env);
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    clearTimeout(this.#restart);
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGTERM');
    const timeout = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
    await exited;
    clearTimeout(timeout);
  }

  async #spawn(): Promise<Record<string, unknown>> {
    const { program, env, logFile } = this.#spec;
    const log = openSync(logFile, 'a');
    // A process group of its own: Ctrl-C reaches the stack only, which then stops its programs in order.
    const child = spawn(process.execPath, [...FLAGS[program], ...commandOf(PROGRAMS[program])], {
      cwd: PROJECT_FOLDER,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', log],
      detached: true,
    });
    closeSync(log);
    this.#child = child;
    // However the stack ends, short of kill -9, its programs end with it.
    const kill = (): void => void child.kill('SIGKILL');
    process.once('exit', kill);
    child.once('exit', () => process.off('exit', kill));
    const ready = await this.#readyLine(child);
    this.#restartDelayMs = RESTART_DELAY_MS.first;
    child.once('exit', (code, signal) => this.#onDeath(signal ?? `code ${code}`));
    return ready;
  }

  #readyLine(child: ChildProcess): Promise<Record<string, unknown>> {
    const { name, logFile } = this.#spec;
    return new Promise((resolve, reject) => {
      const fail = (why: string): void => {
        clearTimeout(timeout);
        const lastLine = readFileSync(logFile, 'utf8').trim().split('\n').at(-1) ?? '';
        reject(new Error(`${name} ${why}: ${lastLine.replace(/^error: /, '')}`));
      };
      const timeout = setTimeout(() => {
        child.kill('SIGKILL');
        fail('was not ready in time');
      }, READY_TIMEOUT_MS);
      const onExit = (): void => fail('did not start');
      child.once('exit', onExit);
      child.once('error', onExit);
      if (child.stdout === null) throw new Error('the program has no output');
      createInterface({ input: child.stdout }).once('line', (line) => {
        clearTimeout(timeout);
        child.off('exit', onExit);
        if (child.exitCode !== null || child.signalCode !== null) onExit();
        else resolve(JSON.parse(line));
      });
    });
  }

  #onDeath(how: string): void {
    if (this.#isStopping) return;
    const { name, onEvent } = this.#spec;
    onEvent?.(`${name} died (${how}); starting it again`);
    this.#restart = setTimeout(() => {
      this.#restartDelayMs = Math.min(this.#restartDelayMs * 2, RESTART_DELAY_MS.max);
      this.#spawn().then(
        () => onEvent?.(`${name} is back, pid ${this.pid}`),
        (error: unknown) => this.#onDeath(String(error)),
      );
    }, this.#restartDelayMs);
  }
}
