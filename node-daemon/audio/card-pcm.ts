// Audio of a sound card, through the programs of ALSA instead of a Node binding: one process for each direction of a call.
import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { type Clock, sleep } from '#shared/clock.ts';
import type { PcmDevice } from './pcm-device.ts';

const FRAME_MS = 20;
/** Frames in the buffer of each direction. Capture is read at once; playback must bridge a pause of this process. */
const CAPTURE_FRAMES = 4;
const PLAYBACK_FRAMES = 3;
/** Most frames that aplay has not read: as many as in its buffer. */
const WAITING_FRAMES_MAX = 3;
const STOP_TIMEOUT_MS = 1_000;
const COMPLAINT_CHARS_MAX = 400;

interface CardOptions {
  /** ALSA's name of the card: "hw:CARD=EC25,DEV=0". */
  readonly device: string;
  readonly rateHz: 8_000 | 16_000;
  readonly clock: Clock;
}

/** Starts both programs. Rejects if one of them does not start or ends at once. */
export async function openCardPcm({ clock, device, rateHz }: CardOptions): Promise<PcmDevice> {
  const frameSamples = (rateHz * FRAME_MS) / 1000;
  const { player, recorder } = spawnBoth(device, rateHz, frameSamples);
  const both = [recorder, player];
  const stopBoth = async (): Promise<void> => {
    await Promise.all(both.map((child) => stopped(child, clock)));
  };
  let onClose: ((reason: Error) => void) | undefined;
  let closed: Error | undefined;
  let xruns = 0;
  const gone = (reason: Error): void => {
    if (closed !== undefined) return;
    closed = reason;
    for (const child of both) child.kill('SIGKILL');
    onClose?.(reason);
  };
  for (const child of both) watch(child, { onXruns: (count) => (xruns += count), gone });
  player.stdin.on('error', () => undefined);
  await Promise.all(both.map(started));
  const readOctets = await meterReads(player.pid, clock);
  if (closed !== undefined) {
    // Otherwise the card could still be busy at the next attempt.
    await stopBoth();
    throw closed;
  }
  const waitingMax = WAITING_FRAMES_MAX * frameSamples * 2;
  let written = 0;
  return {
    get xruns() {
      return xruns;
    },
    onAudio: (handler) => void recorder.stdout.on('data', handler),
    onClose(handler) {
      onClose = handler;
      if (closed !== undefined) handler(closed);
    },
    write(octets) {
      const { stdin } = player;
      const waiting = readOctets === undefined ? stdin.writableLength : written - readOctets();
      if (closed !== undefined || waiting + octets.length > waitingMax) return false;
      written += octets.length;
      stdin.write(octets);
      return true;
    },
    close() {
      closed ??= new Error('the audio was closed');
      return stopBoth();
    },
  };
}

function spawnBoth(device: string, rateHz: number, frameSamples: number) {
  const args = (frames: number): string[] => [
    ...['-q', '-D', device, '-f', 'S16_LE', '-r', String(rateHz), '-c', '1', '-t', 'raw'],
    `--period-size=${frameSamples}`,
    `--buffer-size=${frameSamples * frames}`,
  ];
  return {
    recorder: spawn('arecord', args(CAPTURE_FRAMES), { stdio: ['ignore', 'pipe', 'pipe'] }),
    player: spawn('aplay', args(PLAYBACK_FRAMES), { stdio: ['pipe', 'ignore', 'pipe'] }),
  };
}

/** Reports the gaps of which the program complains, and why it is gone. */
function watch(
  child: ChildProcessByStdio<Writable | null, Readable | null, Readable>,
  { onXruns, gone }: { onXruns: (count: number) => void; gone: (reason: Error) => void },
): void {
  const name = child.spawnfile;
  let complaint = '';
  child.on('error', (error) => gone(new Error(`${name}: ${error.message}`)));
  child.stderr.on('data', (chunk: Buffer) => {
    const text = chunk.toString();
    // For example "underrun!!! (at least 23.220 ms long)", in the language of the host.
    onXruns(text.match(/!!! \(.*ms/g)?.length ?? 0);
    complaint = (complaint + text).slice(-COMPLAINT_CHARS_MAX);
  });
  child.on('exit', (code, signal) =>
    gone(new Error(`${name} exited (${signal ?? code}): ${complaint.trim()}`)),
  );
}

function started(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', reject);
  });
}

function stopped(child: ChildProcess, clock: Clock): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined)
    return Promise.resolve();
  return new Promise((resolve) => {
    const timer = clock.after(STOP_TIMEOUT_MS, () => {
      child.kill('SIGKILL');
      resolve();
    });
    child.once('exit', () => {
      timer.cancel();
      resolve();
    });
    child.kill('SIGTERM');
  });
}

const POLL_MS = 20;
/** The daemon stops waiting for a program that has not finished reading its own files by then. */
const SETTLE_TIMEOUT_MS = 500;

/**
 * Returns the number of octets that the program has read since the start of the meter. The kernel does not report how many octets
 * still wait in the program's input.
 */
type ReadOctets = () => number;

/**
 * Waits until the program with this process id has read its own files and waits for its input. Resolves with undefined if the kernel
 * does not provide the count (`/proc/<pid>/io`, proc(5)).
 */
async function meterReads(pid: number | undefined, clock: Clock): Promise<ReadOctets | undefined> {
  let last = readTotal(pid);
  for (let waitedMs = 0; waitedMs < SETTLE_TIMEOUT_MS; waitedMs += POLL_MS) {
    await sleep(clock, POLL_MS);
    const before = last;
    last = readTotal(pid);
    if (last === before && !isRunning(pid)) break;
  }
  const first = last;
  if (first === undefined) return undefined;
  // A program that has ended has no such file, so its unread octets do not count.
  return () => (readTotal(pid) ?? Number.POSITIVE_INFINITY) - first;
}

/** A program that reads nothing may be waiting for a processor (state R) or for the disk (state D) instead of its input (proc(5)). */
function isRunning(pid: number | undefined): boolean {
  try {
    return /^\d+ \(.*\) [RD]/.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return false;
  }
}

function readTotal(pid: number | undefined): number | undefined {
  try {
    const octets = /^rchar: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, 'latin1'))?.[1];
    return octets === undefined ? undefined : Number(octets);
  } catch {
    return undefined;
  }
}
