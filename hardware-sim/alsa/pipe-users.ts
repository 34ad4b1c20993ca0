// Ends the programs of alsa-utils that use the pipes of a card, as the kernel does when a card is unplugged.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

const PROGRAMS = ['arecord', 'aplay'];

/** SIGTERM to each arecord and aplay that has one of the pipes open. Others are left alone. */
export function endUsersOf(paths: readonly string[]): void {
  for (const name of entriesOf('/proc')) {
    if (!/^\d+$/.test(name) || !PROGRAMS.includes(programOf(name))) continue;
    const files = entriesOf(`/proc/${name}/fd`).map((file) => targetOf(`/proc/${name}/fd/${file}`));
    if (!files.some((file) => paths.includes(file))) continue;
    try {
      process.kill(Number(name), 'SIGTERM');
    } catch {
      // The process has ended, or belongs to another user.
    }
  }
}

function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function programOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
  } catch {
    return '';
  }
}

function targetOf(link: string): string {
  try {
    return readlinkSync(link);
  } catch {
    return '';
  }
}
