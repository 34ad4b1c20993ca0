// Children of a stack that was killed before it could stop them.
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

/** Postgres kills processes of its own that do not end within five seconds. */
const END_TIMEOUT_MS = 10_000;
const POLL_MS = 20;

/** Matches the command lines of our children; a process id may meanwhile belong to another program. */
const OURS = /anvil|nats-server|postgres -D|(control-plane|node-daemon|hardware-sim)\/(bin|main)\.[cm]?[jt]s/;

/** Gets SIGQUIT. After SIGKILL its processes would stay, with the shared memory that the next server needs. */
const POSTGRES = /postgres -D/;

/** Ends what the `dev-stack.json` at `path` names and is still running. To be called with the folder's lock. */
export async function endLeftovers(path: string): Promise<void> {
  if (!existsSync(path)) return;
  const { pids } = JSON.parse(readFileSync(path, 'utf8')) as { pids: Record<string, number> };
  const leftovers = Object.values(pids).filter(isOurs);
  for (const pid of leftovers) end(pid, POSTGRES.test(commandOf(pid)) ? 'SIGQUIT' : 'SIGKILL');
  const deadline = Date.now() + END_TIMEOUT_MS;
  while (leftovers.some(isOurs)) {
    if (Date.now() > deadline)
      throw new Error(`processes ${leftovers.join(', ')} of an earlier start do not end`);
    await pause(POLL_MS);
  }
}

function end(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    // It has just ended.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

const isOurs = (pid: number): boolean => OURS.test(commandOf(pid));

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}
