// A NATS server on a port of loopback; it can be killed, frozen and started again there.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../fixtures/network/free-port.ts';

const PROGRAM = 'nats-server';
/** Debian has it in a folder of root's PATH. */
const PATH = `${process.env['PATH'] ?? ''}:/usr/sbin`;
const START_TIMEOUT_MS = 10_000;
const POLL_MS = 20;

export const isNatsInstalled = (): boolean =>
  spawnSync(PROGRAM, ['--version'], { env: { PATH } }).status === 0;

export class NatsServer {
  readonly url: string;
  readonly #port: number;
  readonly #options: readonly string[];
  #child: ChildProcess | undefined;

  private constructor(port: number, options: readonly string[]) {
    this.#port = port;
    this.#options = options;
    this.url = `nats://127.0.0.1:${port}`;
  }

  /** `options`: more of its command line, such as `--user` and `--pass`. */
  static async start(options: readonly string[] = []): Promise<NatsServer> {
    const server = new NatsServer(await freePort(), options);
    await server.start();
    return server;
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  /** `options` in place of those of its first start. */
  async start(options = this.#options): Promise<void> {
    const child = spawn(PROGRAM, ['--addr', '127.0.0.1', '--port', String(this.#port), ...options], {
      env: { PATH },
      stdio: 'ignore',
      // Ctrl-C is for the program that started it.
      detached: true,
    });
    this.#child = child;
    const kill = (): void => void child.kill('SIGKILL');
    process.once('exit', kill);
    child.once('exit', () => process.off('exit', kill));
    child.once('error', () => undefined);
    const deadline = Date.now() + START_TIMEOUT_MS;
    while (!(await isListening(this.#port))) {
      if (child.pid === undefined || child.exitCode !== null || Date.now() > deadline)
        throw new Error(`${PROGRAM} does not start: is it installed (Debian: apt install nats-server)?`);
      await pause(POLL_MS);
    }
  }

  /** With SIGKILL: it keeps nothing. */
  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child?.pid === undefined || child.exitCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  }

  setFrozen(isFrozen: boolean): void {
    this.#child?.kill(isFrozen ? 'SIGSTOP' : 'SIGCONT');
  }
}

async function isListening(port: number): Promise<boolean> {
  const socket = connect({ port, host: '127.0.0.1' });
  const isOpen = await once(socket, 'connect').then(
    () => true,
    () => false,
  );
  socket.destroy();
  return isOpen;
}
