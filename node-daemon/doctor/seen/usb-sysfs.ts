// Reads attributes of USB devices from sysfs. `undefined` stands for a value that the kernel does not report.
import { readFile } from 'node:fs/promises';
import { type Clock, withTimeout } from '#shared/clock.ts';

/** Reads of some attributes wait while the device is being reset. */
const READ_TIMEOUT_MS = 2_000;

/** Self-powered, in `bmAttributes` (USB 2.0 §9.6.3). */
const SELF_POWERED = 0x40;

/** Never rejects. */
export function attributeAt(file: string, clock: Clock): Promise<string | undefined> {
  return withTimeout(clock, readFile(file, 'latin1'), READ_TIMEOUT_MS, () => new Error('late')).then(
    (text) => text.trim(),
    () => undefined,
  );
}

/** Reads the number in "500mA", "480" or " 2.00". */
export function numberOf(text: string | undefined): number | undefined {
  const value = Number.parseFloat(text ?? '');
  return Number.isNaN(value) ? undefined : value;
}

/** Reads `bmAttributes`. */
export function isSelfPowered(attributes: string | undefined): boolean | undefined {
  const flags = Number.parseInt(attributes ?? '', 16);
  return Number.isNaN(flags) ? undefined : (flags & SELF_POWERED) !== 0;
}
