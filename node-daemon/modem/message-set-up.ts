// Makes the modem take messages in PDU mode, put them where there is room, and say that it did.
import type { Clock } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import { ask } from '../at/ask.ts';
import { AtError, CmeError, CmsError, isUnanswered } from '../at/at-error.ts';
import type { AtChannel } from '../at/channel.ts';
import { type AtCommand, atCommand, atQuery, quoted } from '../at/command.ts';
import type { ModemProfile } from './profiles/profile.ts';
import { parseStorages, type Storages } from './sms-storage.ts';

/** SMS commands can fail for seconds after the SIM is ready. */
const BUSY_ATTEMPTS_MAX = 20;
const BUSY_PAUSE_MS = 1_000;
/** SIM busy, PIN required, not inserted: what a card that is about to be ready answers (27.007 §9.2, 27.005 §3.2.5). */
const CME_BUSY = new Set([10, 11, 13, 14]);
const CMS_BUSY = new Set([302, 310, 311, 313, 314, 500]);

const TEXT_MODE = /^\+CMGF: ?1/;

/** What the set-up works on. */
export interface MessageSetUpParts {
  readonly channel: AtChannel;
  readonly clock: Clock;
  readonly log: Logger;
  readonly profile: ModemProfile;
  /** Waits; rejects when the session is over. */
  readonly pause: (delayMs: number) => Promise<void>;
}

/** What was settled. */
export interface MessageSetUp {
  readonly storages: Storages;
  /** Where arriving messages are put. */
  readonly receiving: string;
  readonly settings: Settings;
}

/** The answers to AT+CMGF? and AT+CNMI?, `undefined` where there was none. */
export type Settings = readonly (string | undefined)[];

/** Rejects with the modem's last error when it keeps refusing, with `AtTimeoutError` and `PortClosedError`. */
export async function setUpMessages(parts: MessageSetUpParts): Promise<MessageSetUp> {
  const { channel, log, profile } = parts;
  await untilReady(parts, atCommand('AT+CMGF=0'));
  const offered = await untilReady(parts, atQuery('AT+CPMS=?', '+CPMS:'));
  const storages = parseStorages(offered[0] ?? `+CPMS: ${profile.storages}`);
  const receiving = await chooseReceiving(parts, storages);
  const announces = await firstTaken(
    parts,
    profile.indications.map((value) => atCommand(`AT+CNMI=${value}`)),
  );
  if (!announces) log.warn({}, 'the modem announces no messages: they are found by sweeps only');
  const settings = await readSettings(channel);
  if (TEXT_MODE.test(settings[0] ?? '')) throw new AtError('the modem has no PDU mode');
  return { storages, receiving, settings };
}

/** Reads what a restart puts back to the maker's values. */
export async function readSettings(channel: AtChannel): Promise<Settings> {
  const format = await ask(channel, atQuery('AT+CMGF?', '+CMGF:'), 'background');
  const indications = await ask(channel, atQuery('AT+CNMI?', '+CNMI:'), 'background');
  return [format?.[0], indications?.[0]];
}

/** Whether the modem has restarted without a word. */
export function haveChanged(before: Settings, after: Settings): boolean {
  return before.some(
    (line, index) => line !== undefined && after[index] !== undefined && line !== after[index],
  );
}

/** The answer; none from a modem that does not know the command. */
async function untilReady({ channel, pause }: MessageSetUpParts, command: AtCommand): Promise<string[]> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return (await channel.send(command)).map(({ line }) => line);
    } catch (error) {
      if (isUnanswered(error)) throw error;
      if (!isBusy(error)) return [];
      if (attempt === BUSY_ATTEMPTS_MAX) throw error;
    }
    await pause(BUSY_PAUSE_MS);
  }
}

/**
 * Some firmware has a storage of no places, and some takes only the first argument: what arrives elsewhere
 * is found there all the same, for every storage is swept.
 */
async function chooseReceiving(parts: MessageSetUpParts, { receiving }: Storages): Promise<string> {
  const order = parts.profile.receiving.filter((name) => receiving.includes(name));
  for (const storage of order) {
    const name = quoted(storage);
    const [line] = await untilReady(
      parts,
      atCommand(`AT+CPMS=${name},${name},${name}`, { answer: /^\+CPMS:/ }),
    );
    const places = line === undefined ? undefined : /^\+CPMS: ?\d+,(\d+)/.exec(line)?.[1];
    if (places !== undefined && Number(places) > 0) return storage;
  }
  throw new AtError('no storage for arriving messages');
}

async function firstTaken(
  { channel, pause }: MessageSetUpParts,
  commands: readonly AtCommand[],
): Promise<boolean> {
  for (const command of commands) {
    for (let attempt = 1; attempt <= BUSY_ATTEMPTS_MAX; attempt += 1) {
      try {
        await channel.send(command);
        return true;
      } catch (error) {
        if (isUnanswered(error)) throw error;
        if (!isBusy(error)) break;
      }
      await pause(BUSY_PAUSE_MS);
    }
  }
  return false;
}

function isBusy(error: unknown): boolean {
  if (error instanceof CmeError) return CME_BUSY.has(error.code);
  return error instanceof CmsError && CMS_BUSY.has(error.code);
}
