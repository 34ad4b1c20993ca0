// A program beside the bench: started, awaited, asked, read for its memory and processor time, ended.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface, type Interface } from 'node:readline';
import { commandOf } from '../dev-stack/program-command.ts';

const READY_TIMEOUT_MS = 60_000;
const ANSWER_TIMEOUT_MS = 300_000;
/** USER_HZ, the unit of times in /proc: 100 on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;

type Json = Record<string, unknown>;

export interface Child {
  /** The JSON line that it printed when it was ready. */
  ready: Json;
  pid: number;
  /** Writes a JSON line to its standard input; resolves with the JSON line that it prints next. */
  ask(request: Json): Promise<Json>;
  stop(): Promise<void>;
}

/** Limits would be measured, and not what is behind them. */
const UNLIMITED = {
  REQUESTS_PER_MINUTE: '10000000',
  TOKEN_REQUESTS_PER_MINUTE: '10000000',
  CONNECTIONS_PER_ADDRESS: '100000',
};

export async function startChild(
  script: string,
  env: Record<string, string> = {},
  nodeFlags: readonly string[] = [],
): Promise<Child> {
  const command = script.endsWith('.ts') ? ['--import', 'tsx', script] : commandOf(script);
  const child = spawn(process.execPath, [...profileFlags(script), ...nodeFlags, ...command], {
    env: { ...process.env, LOG_LEVEL: 'warn', ...UNLIMITED, ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  // A bench that fails leaves nothing behind.
  const kill = (): void => void child.kill('SIGKILL');
  process.once('exit', kill);
  child.once('exit', () => process.off('exit', kill));
  const lines = createInterface({ input: child.stdout });
  const ready = await nextLine(child, lines, { script, timeoutMs: READY_TIMEOUT_MS });
  return {
    ready,
    pid: child.pid ?? 0,
    ask(request) {
      const answer = nextLine(child, lines, { script, timeoutMs: ANSWER_TIMEOUT_MS });
      child.stdin.write(`${JSON.stringify(request)}\n`);
      return answer;
    },
    stop: () => end(child),
  };
}

const PROFILED = ['control-plane/bin.mjs', 'node-daemon/bin.cjs'];

function profileFlags(script: string): string[] {
  const folder = process.env['BENCH_CPU_PROFILE'];
  if (folder === undefined || !PROFILED.includes(script)) return [];
  return ['--cpu-prof', `--cpu-prof-dir=${folder}`];
}

async function nextLine(
  child: ChildProcess,
  lines: Interface,
  { script, timeoutMs }: { script: string; timeoutMs: number },
): Promise<Json> {
  const settled = new AbortController();
  const signal = AbortSignal.any([AbortSignal.timeout(timeoutMs), settled.signal]);
  const ended = once(child, 'exit', { signal }).then(() => Promise.reject(new Error(`${script} ended`)));
  try {
    const [line] = await Promise.race([once(lines, 'line', { signal }), ended]);
    return JSON.parse(String(line)) as Json;
  } finally {
    ended.catch(() => undefined);
    settled.abort();
  }
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

/** Processor time of all threads of a process since its start, in user and system mode (proc(5)). */
export function processorSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name in parentheses may hold blanks; what follows does not. utime and stime are fields 14 and 15.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}
