// A local chain: anvil's own binary, without the npm wrapper that would leave it behind when killed.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';

const START_TIMEOUT_MS = 15_000;
const STOP_TIMEOUT_MS = 5_000;

export interface LocalChain {
  rpcUrl: string;
  pid: number;
  /** Stops the chain; with a state file, after writing it. */
  stop(): Promise<void>;
}

/** Starts a chain on loopback. `stateFile` keeps it over restarts. `port` 0 is a free one. `flags`: further ones of anvil. */
export async function startChain(options: {
  chainId: number;
  port: number;
  stateFile?: string;
  flags?: readonly string[];
}): Promise<LocalChain> {
  const stateFlags = options.stateFile ? ['--state', options.stateFile, '--state-interval', '5'] : [];
  const anvil = spawn(
    anvilBinary(),
    [
      '--host',
      '127.0.0.1',
      '--port',
      String(options.port),
      '--chain-id',
      String(options.chainId),
      ...stateFlags,
      ...(options.flags ?? []),
    ],
    { stdio: ['ignore', 'pipe', 'pipe'], detached: true },
  );
  // However this process ends, short of kill -9, the chain ends with it.
  const kill = (): void => void anvil.kill('SIGKILL');
  process.once('exit', kill);
  const port = await listeningPort(anvil);
  anvil.stdout.resume();
  return {
    rpcUrl: `http://127.0.0.1:${port}`,
    pid: anvil.pid ?? 0,
    async stop() {
      if (anvil.exitCode !== null || anvil.signalCode !== null) return;
      process.off('exit', kill);
      const exited = once(anvil, 'exit');
      anvil.kill('SIGINT');
      const timeout = setTimeout(() => anvil.kill('SIGKILL'), STOP_TIMEOUT_MS);
      await exited;
      clearTimeout(timeout);
    },
  };
}

function anvilBinary(): string {
  const architecture = { x64: 'amd64', arm64: 'arm64' }[process.arch as string];
  if (architecture === undefined) throw new Error(`no local chain for ${process.platform} ${process.arch}`);
  const require = createRequire(import.meta.url);
  const manifest = require.resolve(`@foundry-rs/anvil-${process.platform}-${architecture}/package.json`);
  return join(dirname(manifest), 'bin', 'anvil');
}

async function listeningPort(anvil: ChildProcess): Promise<number> {
  const { stdout, stderr } = anvil;
  if (stdout === null || stderr === null) throw new Error('anvil has no output');
  const complaints: string[] = [];
  stderr.on('data', (chunk) => complaints.push(String(chunk)));
  return new Promise((resolve, reject) => {
    const timeout = setTimeout(() => {
      anvil.kill('SIGKILL');
      reject(new Error('the local chain did not start in time'));
    }, START_TIMEOUT_MS);
    createInterface({ input: stdout }).on('line', (line) => {
      const port = /^Listening on .*:(\d+)$/.exec(line)?.[1];
      if (port === undefined) return;
      clearTimeout(timeout);
      resolve(Number(port));
    });
    anvil.once('error', reject);
    anvil.once('exit', () => {
      clearTimeout(timeout);
      reject(new Error(`the local chain did not start: ${complaints.join('').trim()}`));
    });
  });
}
