// A program beside the bench: started, awaited, read for its memory, ended.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const READY_TIMEOUT_MS = 30_000;

export interface Child {
  /** The JSON line that it printed when it was ready. */
  ready: Record<string, unknown>;
  pid: number;
  stop(): Promise<void>;
}

export async function startChild(script: string, env: Record<string, string> = {}): Promise<Child> {
  const child = spawn(process.execPath, ['--import', 'tsx', script], {
    env: { ...process.env, LOG_LEVEL: 'warn', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  // A bench that fails leaves nothing behind.
  process.once('exit', () => void child.kill('SIGKILL'));
  const line = await readyLine(child, script);
  return { ready: JSON.parse(line), pid: child.pid ?? 0, stop: () => end(child) };
}

async function readyLine(child: ChildProcess, script: string): Promise<string> {
  const lines = createInterface({ input: child.stdout as NonNullable<ChildProcess['stdout']> });
  const signal = AbortSignal.timeout(READY_TIMEOUT_MS);
  const [line] = await Promise.race([
    once(lines, 'line', { signal }),
    once(child, 'exit', { signal }).then(() => Promise.reject(new Error(`${script} ended`))),
  ]);
  return String(line);
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  await exited;
}

/** Resident memory of a process in MB (Linux). */
export function residentMegabytes(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes) / 1024;
}
