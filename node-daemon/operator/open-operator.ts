// Opens the operator API of a host: that of the running daemon, or, while none runs, one on the modems themselves.
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Slot } from '#shared/link/slot.ts';
import { silentLogger } from '#shared/log.ts';
import { isAway, SocketClient } from '#shared/operator/operator-client.ts';
import { OperatorError } from '#shared/operator/operator-error.ts';
import { FolderInUseError } from '#shared/process/single-instance.ts';
import type { DaemonSettings } from '../config/options.ts';
import type { Host } from '../host/host.ts';
import { JOURNAL_FILE } from '../journal/journal.ts';
import { identityPath } from '../link/identity.ts';
import { howToGetAt, OthersFolderError } from '../system/file-owners.ts';
import type { HangGuard } from '../system/hang-guard.ts';
import type { NodeOperator, Streams } from './node-operator.ts';
import { socketPathOf } from './operator-socket.ts';
import type { PROCEDURES } from './procedures/all-procedures.ts';
import { answerTimeMs } from './procedures/answer-time.ts';

/** A modem is opened and identified, and then registered, within seconds. A modem that is not by then is shown as it is. */
const STARTING_MAX_MS = 30_000;
const SEARCHING_MAX_MS = 10_000;
const LOOK_EVERY_MS = 50;

interface OpenOptions {
  /** The tool that asks. A daemon that cannot start meanwhile names it. */
  readonly tool: string;
  /** Guard of the process, if it already has one. */
  readonly guard?: HangGuard | undefined;
  /** Whether it is open only when the modems that it opens itself have found out how they are. */
  readonly waitsForModems?: boolean;
}

/**
 * Finds the running daemon, or takes its place for a while. Messages that arrive meanwhile are journaled, and reported when the daemon
 * runs again. Throws `OperatorError`, also if no daemon runs and the data folder is not that of a daemon.
 */
export async function openNodeOperator(
  settings: DaemonSettings,
  { tool, guard, waitsForModems = true }: OpenOptions,
): Promise<NodeOperator> {
  const running = await findDaemon(settings);
  if (running !== undefined) return running;
  try {
    return await openOwnHost(settings, { tool, guard, waitsForModems });
  } catch (error) {
    if (error instanceof FolderInUseError) {
      // A daemon that starts or stops, or another tool.
      const late = await findDaemon(settings);
      if (late !== undefined) return late;
      throw new OperatorError(
        'unreachable',
        `${error.message}, which does not listen on ${socketPathOf(settings)}: try again when it has started or ended`,
        error,
      );
    }
    if (error instanceof OthersFolderError)
      throw new OperatorError('unreachable', `no daemon runs, and ${error.message}`, error);
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EACCES' && code !== 'EPERM' && code !== 'EROFS') throw error;
    throw new OperatorError(
      'unreachable',
      `no daemon runs, and this command cannot use the data folder itself (${error instanceof Error ? error.message : code}): ${howToGetAt(settings.dataDir)}`,
      error,
    );
  }
}

async function openOwnHost(
  settings: DaemonSettings,
  { tool, guard, waitsForModems }: OpenOptions,
): Promise<NodeOperator> {
  refuseUnknownFolder(settings.dataDir);
  const { openHost } = await import('../host/host.ts');
  const { CommandHandler } = await import('../link/command-handler.ts');
  const { HostOperator } = await import('./host-operator.ts');
  const { SlotActivity } = await import('./slot-activity.ts');
  const holder = `"node-daemon ${tool}" (pid ${process.pid}), which uses the modems until it ends`;
  const host = await openHost(settings, { log: silentLogger, isLinked: () => false, holder, guard });
  const { calls, clock, journal, rack, sendLimits: limits } = host;
  host.start();
  if (waitsForModems) {
    await untilNoneIs('starting', host, STARTING_MAX_MS);
    await untilNoneIs('searching', host, SEARCHING_MAX_MS);
  }
  return new HostOperator({
    host,
    commands: new CommandHandler({
      rack,
      journal,
      limits,
      calls,
      clock,
      log: silentLogger,
      destinations: settings.config.destinations,
    }),
    activity: new SlotActivity(host),
    async onClose() {
      await host.stop();
      await host.close();
      // An exit waits for every thread, and no signal but this one ends those that hang in a port.
      if (host.guard.hanging > 0) process.kill(process.pid, 'SIGKILL');
    },
  });
}

/**
 * The tool takes messages off the SIMs. No daemon reports those in the journal of a mistyped folder, so they would never reach their
 * customers.
 */
function refuseUnknownFolder(dataDir: string): void {
  const seen = strangenessOf(dataDir);
  if (seen === undefined) return;
  throw new OperatorError(
    'unreachable',
    `no daemon runs, and ${seen}. Check --data-dir. To use the modems of a new node, start its daemon, or enroll it`,
  );
}

/** Undefined for the folder of a daemon, also of one that is not enrolled yet. Throws if this user may not read the folder. */
function strangenessOf(dataDir: string): string | undefined {
  const folder = statSync(dataDir, { throwIfNoEntry: false });
  if (folder === undefined) return `the data folder ${dataDir} does not exist`;
  if (!folder.isDirectory()) return `${dataDir} is not a folder`;
  const files = [identityPath(dataDir), join(dataDir, JOURNAL_FILE)];
  if (files.some((path) => statSync(path, { throwIfNoEntry: false }) !== undefined)) return undefined;
  return `${dataDir} is not the data folder of a daemon: it has neither identity.json nor ${JOURNAL_FILE}`;
}

async function untilNoneIs(state: Slot['state'], { rack, clock }: Host, timeoutMs: number): Promise<void> {
  const end = clock.now() + timeoutMs;
  while (rack.hasModemIn(state) && clock.now() < end) {
    await new Promise<void>((resolve) => clock.after(LOOK_EVERY_MS, resolve));
  }
}

/** The daemon may be in the middle of a compaction. */
const HELLO_TIMEOUT_MS = 10_000;

const LOOK_FOR_DAEMON_MS = 500;

/**
 * The daemon when it is back; undefined when the signal came first. Throws `OperatorError` when it is one that cannot be used: of another
 * version, or of another user.
 */
export async function daemonBack(
  settings: DaemonSettings,
  signal: AbortSignal,
): Promise<NodeOperator | undefined> {
  for (;;) {
    await pause(LOOK_FOR_DAEMON_MS, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return undefined;
    try {
      const operator = await findDaemon(settings);
      if (operator !== undefined) return operator;
    } catch (error) {
      if (!isAway(error)) throw error;
    }
  }
}

/** Undefined when no daemon listens at its socket. Throws `OperatorError`. */
export async function findDaemon(
  daemon: Pick<DaemonSettings, 'config' | 'dataDir'>,
): Promise<NodeOperator | undefined> {
  const socketPath = socketPathOf(daemon);
  const clientWaiting = (timeoutMs: number): SocketClient<typeof PROCEDURES> =>
    new SocketClient({ socketPath, program: 'node-daemon', timeoutMs, howToOpen: howToGetAt(socketPath) });
  // Streams have a limit of their own.
  const client = clientWaiting(HELLO_TIMEOUT_MS);
  if (!(await client.isThere('slots', HELLO_TIMEOUT_MS))) return undefined;
  return {
    isRunningDaemon: true,
    call: (name, input) => clientWaiting(answerTimeMs(name, input)).call(name, input),
    follow: <S extends keyof Streams>(
      stream: S,
      { signal, isFollowed = true }: { signal: AbortSignal; isFollowed?: boolean },
    ) => client.follow(isFollowed ? stream : `${stream}?follow=no`, signal) as AsyncIterable<Streams[S]>,
    // Each request has a connection of its own.
    close: async () => undefined,
  };
}
