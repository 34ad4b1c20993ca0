// gammu-smsd and smstools as an operator would set them for speed, each on one modem: what users have today.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants, mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RackModem } from './simulated-rack.ts';
import { BODY } from './submit-pdu.ts';

/** A program that was started for one modem. */
export interface SmsProgram {
  name: string;
  modem: RackModem;
  /** Queues messages to send, as its users do: files in its folder. */
  queue(to: string, count: number): void;
  /** Messages that it has received and stored since its start. */
  receivedCount(): number;
  stop(): Promise<void>;
}

/** A kind of program, and how it is started: `undefined` where it is not installed. */
interface Installation {
  name: string;
  debianPackage: string;
  path: string;
  start: (path: string, modem: RackModem, folder: string) => SmsProgram;
}

const INSTALLATIONS: readonly Installation[] = [
  { name: 'gammu-smsd', debianPackage: 'gammu-smsd', path: '/usr/bin/gammu-smsd', start: startGammu },
  { name: 'smstools', debianPackage: 'smstools', path: '/usr/sbin/smsd', start: startSmstools },
];

/** How many modems `startOtherPrograms` takes at most. */
export const OTHER_PROGRAMS_MAX = INSTALLATIONS.length;

/** Starts each installed program on a modem of its own, and says which are not there. */
export function startOtherPrograms(folder: string, modems: readonly RackModem[]): SmsProgram[] {
  return INSTALLATIONS.flatMap(({ name, debianPackage, path, start }, position) => {
    const modem = modems[position];
    if (modem === undefined) throw new Error('too few modems');
    if (isExecutable(path)) return [start(path, modem, madeFolder(folder, name))];
    process.stderr.write(`skipped: ${name} is not installed (Debian package ${debianPackage})\n`);
    return [];
  });
}

function startGammu(path: string, modem: RackModem, folder: string): SmsProgram {
  const [inbox, outbox, sent, errors] = ['inbox', 'outbox', 'sent', 'errors'].map((name) =>
    madeFolder(folder, name),
  ) as [string, string, string, string];
  const file = join(folder, 'gammu-smsdrc');
  writeFileSync(
    file,
    `[gammu]
device = ${modem.ports.at}
connection = at115200

[smsd]
service = files
logfile = ${join(folder, 'log')}
inboxpath = ${inbox}/
outboxpath = ${outbox}/
sentsmspath = ${sent}/
errorsmspath = ${errors}/
LoopSleep = 1
ReceiveFrequency = 1
CommTimeout = 1
StatusFrequency = 0
CheckSecurity = 0
CheckBattery = 0
CheckSignal = 0
CheckNetwork = 0
`,
  );
  let queued = 0;
  return {
    name: 'gammu-smsd',
    modem,
    queue(to, count) {
      for (let each = 0; each < count; each += 1) {
        queued += 1;
        const serial = String(queued).padStart(4, '0');
        placeFile(join(outbox, `OUTC20260101_000000_00_${to}_${serial}.txt`), BODY, folder);
      }
    },
    receivedCount: () => readdirSync(inbox).length,
    ...program(path, ['-c', file]),
  };
}

function startSmstools(path: string, modem: RackModem, folder: string): SmsProgram {
  const [incoming, outgoing, checked, failed, sent] = [
    'incoming',
    'outgoing',
    'checked',
    'failed',
    'sent',
  ].map((name) => madeFolder(folder, name)) as [string, string, string, string, string];
  const file = join(folder, 'smsd.conf');
  writeFileSync(
    file,
    `devices = GSM1
incoming = ${incoming}
outgoing = ${outgoing}
checked = ${checked}
failed = ${failed}
sent = ${sent}
infofile = ${join(folder, 'info')}
pidfile = ${join(folder, 'pid')}
logfile = ${join(folder, 'log')}
loglevel = 4
delaytime = 1
errorsleeptime = 1

[GSM1]
device = ${modem.ports.at}
incoming = yes
baudrate = 115200
keep_open = yes
memory_start = 1
`,
  );
  let queued = 0;
  return {
    name: 'smstools',
    modem,
    queue(to, count) {
      for (let each = 0; each < count; each += 1) {
        queued += 1;
        placeFile(join(outgoing, `message-${queued}`), `To: ${to.slice(1)}\n\n${BODY}`, folder);
      }
    },
    receivedCount: () => readdirSync(incoming).length,
    ...program(path, ['-c', file, '-t']),
  };
}

/** In a process group of its own: smstools has a process for each modem. */
function program(path: string, args: readonly string[]): Pick<SmsProgram, 'stop'> {
  const child = spawn(path, args, { stdio: 'ignore', detached: true });
  const kill = (): void => void killGroup(child);
  process.once('exit', kill);
  child.once('exit', () => process.off('exit', kill));
  return {
    async stop() {
      const exited = once(child, 'exit');
      if (killGroup(child)) await exited;
    },
  };
}

/** False when it has ended before. */
function killGroup({ pid, exitCode, signalCode }: ChildProcess): boolean {
  if (pid === undefined || exitCode !== null || signalCode !== null) return false;
  process.kill(-pid, 'SIGKILL');
  return true;
}

/** Whole or not there: both programs poll their folders all the time. */
function placeFile(path: string, text: string, folder: string): void {
  const temporary = join(folder, 'new');
  writeFileSync(temporary, text);
  renameSync(temporary, path);
}

function madeFolder(...parts: string[]): string {
  const folder = join(...parts);
  mkdirSync(folder, { recursive: true });
  return folder;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
