// Sends sd_notify(3) messages with the program systemd-notify, because Node.js has no Unix datagram sockets.
import { execFile } from 'node:child_process';
import type { Logger } from '../log.ts';

/** Two, one that is being sent and one that waits, end before a program that stops is killed. */
const NOTIFY_TIMEOUT_MS = 4_000;

/** The values to send, by the names of sd_notify(3). */
export type Assignments = Readonly<Record<string, string | number>>;

/** Notifies the service manager. Never rejects. The program also works without it. */
export type Notify = (assignments: Assignments) => Promise<void>;

/** Sends to the socket in `NOTIFY_SOCKET`, one message at a time. Values that wait meanwhile are sent together. */
export function notifySocket(socket: string, log: Logger): Notify {
  let waiting: Record<string, string | number> | undefined;
  let last = Promise.resolve();
  let isFailing = false;
  const send = async (): Promise<void> => {
    const assignments = Object.entries(waiting ?? {}).map(([name, value]) => `${name}=${value}`);
    waiting = undefined;
    const failure = await run(assignments, socket);
    if (failure !== undefined && !isFailing)
      log.error({ err: failure }, 'failed to notify the service manager');
    isFailing = failure !== undefined;
  };
  return (assignments) => {
    if (waiting === undefined) last = last.then(send);
    waiting = { ...waiting, ...assignments };
    return last;
  };
}

function run(assignments: readonly string[], socket: string): Promise<Error | undefined> {
  return new Promise((resolve) => {
    const options = {
      env: { NOTIFY_SOCKET: socket, PATH: '/usr/bin:/bin' },
      timeout: NOTIFY_TIMEOUT_MS,
      killSignal: 'SIGKILL' as const,
    };
    execFile('systemd-notify', [...assignments], options, (error) => resolve(error ?? undefined));
  });
}
