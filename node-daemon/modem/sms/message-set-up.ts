// Sets the modem up to use PDU mode, to store messages where there is room, and to announce them.
import type { Clock } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import { ask } from '../../at/ask.ts';
import { AtError, CmeError, CmsError, isUnanswered } from '../../at/at-error.ts';
import type { AtChannel } from '../../at/channel.ts';
import { type AtCommand, atCommand, atQuery, quoted } from '../../at/command.ts';
import type { ModemProfile } from '../../profiles/profile.ts';
import { parseStorages, type Storages } from './storage/sms-storage.ts';
import { choice, joinedCommand, type StorageForm } from './storage/storage-access.ts';

/** SMS commands can fail for seconds after the SIM is ready. */
const BUSY_ATTEMPTS_MAX = 20;
const BUSY_PAUSE_MS = 1_000;
/** SIM busy, PIN required, not inserted: the errors of a card that will soon be ready (27.007 §9.2, 27.005 §3.2.5). */
const CME_BUSY = new Set([10, 11, 13, 14]);
const CMS_BUSY = new Set([302, 310, 311, 313, 314, 500]);
/** Any other error may also be temporary. A form must be refused this often before a worse form is tried. */
const REFUSALS_MAX = 3;
const REFUSAL_PAUSE_MS = 250;
/** Number of polls that try better indications than the accepted ones. */
const IMPROVEMENTS_MAX = 3;

const TEXT_MODE = /^\+CMGF: ?1/;

/** The parts that the set-up uses. */
interface MessageSetUpParts {
  readonly channel: AtChannel;
  readonly clock: Clock;
  readonly log: Logger;
  readonly profile: ModemProfile;
  /** Waits. Rejects when the session is over. */
  readonly pause: (delayMs: number) => Promise<void>;
}

/** The result of the set-up. */
export interface MessageSetUp {
  readonly storages: Storages;
  readonly storageForm: StorageForm;
  /** Position of the accepted value in the profile's `indications`; their number if none was accepted. */
  readonly indications: number;
  readonly improvementsLeft: number;
  readonly settings: MessageSettings;
}

/** The answers to AT+CMGF? and AT+CNMI?, `undefined` if there was none. */
export type MessageSettings = readonly (string | undefined)[];

/** Rejects with the modem's last error if it keeps refusing, and with `AtTimeoutError` and `PortClosedError`. */
export async function setUpMessages(parts: MessageSetUpParts): Promise<MessageSetUp> {
  const { channel, log, profile } = parts;
  await untilReady(parts, atCommand('AT+CMGF=0'));
  const offered = await untilReady(parts, atQuery('AT+CPMS=?', '+CPMS:'));
  const storages = parseStorages(offered[0] ?? `+CPMS: ${profile.storages}`);
  const receiving = await chooseReceiving(parts, storages);
  const storageForm = await chooseForm(parts, receiving);
  const indications = await firstTaken(
    parts,
    profile.indications.map((value) => atCommand(`AT+CNMI=${value}`)),
  );
  const taken = profile.indications[indications];
  if (taken === undefined) log.warn({}, 'the modem does not announce messages: only sweeps find them');
  else log.info({ receiving, indications: taken, joined: storageForm.joined }, 'message settings done');
  const settings = await readSettings(channel);
  if (TEXT_MODE.test(settings[0] ?? '')) throw new AtError('the modem does not support PDU mode');
  return { storages, storageForm, indications, settings, improvementsLeft: IMPROVEMENTS_MAX };
}

/**
 * Tries refused settings again, because a slow modem may refuse them for longer than the set-up takes. Rejects with `AtTimeoutError`
 * and `PortClosedError`.
 */
export async function improveIndications(
  { channel, log, profile }: Omit<MessageSetUpParts, 'pause'>,
  setUp: MessageSetUp,
): Promise<MessageSetUp> {
  if (setUp.improvementsLeft === 0) return setUp;
  const better = profile.indications.slice(0, setUp.indications);
  for (const [indications, value] of better.entries()) {
    if ((await ask(channel, atCommand(`AT+CNMI=${value}`), 'background')) === undefined) continue;
    log.info({ indications: value }, 'the modem now accepts indications with delivery reports');
    return { ...setUp, indications, settings: await readSettings(channel) };
  }
  return { ...setUp, improvementsLeft: setUp.improvementsLeft - 1 };
}

/** Reads the settings that a restart resets to the maker's values. */
export async function readSettings(channel: AtChannel): Promise<MessageSettings> {
  const format = await ask(channel, atQuery('AT+CMGF?', '+CMGF:'), 'background');
  const indications = await ask(channel, atQuery('AT+CNMI?', '+CNMI:'), 'background');
  return [format?.[0], indications?.[0]];
}

/** Returns whether the modem restarted without a report. */
export function haveChanged(before: MessageSettings, after: MessageSettings): boolean {
  return before.some(
    (line, index) => line !== undefined && after[index] !== undefined && line !== after[index],
  );
}

/** Returns the answer; empty from a modem that does not support the command. */
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
 * Some firmware offers a storage without places, and some accepts only the first argument. Messages in another storage are still found,
 * because the daemon sweeps all storages.
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
  throw new AtError('the modem accepts no storage for incoming messages');
}

/** Tries the forms in order of preference. Some firmware accepts the storage only on a line of its own. */
async function chooseForm(parts: MessageSetUpParts, receiving: string): Promise<StorageForm> {
  const forms: StorageForm[] = [{ joined: true }, { joined: true, receiving }];
  // Any query would do. Its answer shows that the modem also ran the end of the line.
  const query = atQuery('AT+CMGF?', '+CMGF:', { answerSingle: false });
  const taken = await firstTaken(
    parts,
    forms.map((form) => joinedCommand(form, receiving, query)),
    query.answer,
  );
  if (forms[taken] !== undefined) return forms[taken];
  parts.log.warn({}, 'the modem accepts only one command in a line');
  const takesOne = (await firstTaken(parts, [choice({ joined: false }, receiving)])) === 0;
  return takesOne ? { joined: false } : { joined: false, receiving };
}

/** Returns the position of the first accepted command, with an answer like `proof`; their number if none is accepted. */
async function firstTaken(
  parts: MessageSetUpParts,
  commands: readonly AtCommand[],
  proof?: RegExp,
): Promise<number> {
  for (const [position, command] of commands.entries()) {
    const answer = await answerOf(parts, command);
    if (answer !== undefined && (proof === undefined || answer.some((line) => proof.test(line))))
      return position;
  }
  return commands.length;
}

/** Returns `undefined` for a modem that keeps refusing. */
async function answerOf(
  { channel, pause }: MessageSetUpParts,
  command: AtCommand,
): Promise<string[] | undefined> {
  let refusals = 0;
  for (let attempt = 1; attempt <= BUSY_ATTEMPTS_MAX; attempt += 1) {
    let delayMs = BUSY_PAUSE_MS;
    try {
      return (await channel.send(command)).map(({ line }) => line);
    } catch (error) {
      if (isUnanswered(error)) throw error;
      if (!isBusy(error)) {
        refusals += 1;
        if (refusals === REFUSALS_MAX) return undefined;
        delayMs = REFUSAL_PAUSE_MS;
      }
    }
    await pause(delayMs);
  }
  return undefined;
}

function isBusy(error: unknown): boolean {
  if (error instanceof CmeError) return CME_BUSY.has(error.code);
  return error instanceof CmsError && CMS_BUSY.has(error.code);
}
