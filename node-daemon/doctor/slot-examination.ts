// Examines one slot: its files, its modem's answers, the audio of its port. Never takes longer than its time.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clock, withTimeout } from '#shared/clock.ts';
import { OperatorError } from '#shared/operator/operator-error.ts';
import type { OpenPort } from '../at/port.ts';
import { isIdle, testLoop } from './audio-loop.ts';
import { listenTo, messageOf } from './audio-port.ts';
import { diagnosisOf } from './makes/find-diagnosis.ts';
import { askAll } from './questions.ts';
import { cardPaths, type FoundSlot, type RackDesk } from './rack-slots.ts';
import { type Programs, readDeviceNode } from './seen/device-node.ts';
import type { HostView } from './seen/host-view.ts';
import type { AskModem } from './seen/modem-view.ts';
import type { HeardAudio, LoopResult, NoAnswers, SlotView } from './seen/slot-view.ts';

/** A healthy modem answers a query within 300 ms. */
const ANSWER_TIMEOUT_MS = 2_000;
/** For a daemon that does not answer itself. */
const DESK_TIMEOUT_MS = ANSWER_TIMEOUT_MS + 500;
const QUESTIONS_TIMEOUT_MS = 5_000;
/** Listening and the tone take three seconds. */
const AUDIO_TIMEOUT_MS = 5_000;
/** Reasons of a lost modem that come from asking it; for the others the port was not opened. */
const TRIED: ReadonlySet<string> = new Set(['silent', 'faulty', 'gave_up', 'port_gone', 'no_service']);

/** The parts that an examination uses. */
interface SlotExaminationParts {
  /** Undefined where the modems cannot be asked. */
  readonly desk: RackDesk | undefined;
  /** Whether modems are used that no slot of the configuration names. */
  readonly discovers: boolean;
  readonly host: HostView;
  readonly programs: Programs;
  readonly openPort: OpenPort;
  readonly procRoot: string;
  readonly devRoot: string;
  /** Whether tones may be played into modems. */
  readonly playsTones: boolean;
  readonly clock: Clock;
}

/** Never rejects. */
export async function examineSlot(found: FoundSlot, parts: SlotExaminationParts): Promise<SlotView> {
  const { clock, desk, devRoot, host, procRoot, programs } = parts;
  const { device, name, place } = found;
  const usb = device === undefined ? undefined : host.usb.get(device.usbPath);
  const card = place?.audio?.card;
  const nodesOf = (paths: readonly (string | undefined)[]) =>
    paths.flatMap((path) => (path === undefined ? [] : (readDeviceNode(path, programs) ?? [])));
  const ask: AskModem = (command) => {
    if (desk === undefined) return Promise.reject(new Error('the modems cannot be asked'));
    const answer = desk.at(name, command, { timeoutMs: ANSWER_TIMEOUT_MS, unsafe: true });
    return withTimeout(
      clock,
      answer,
      DESK_TIMEOUT_MS,
      () => new DeskSilentError('the daemon gives no answer'),
    );
  };
  const modem = await modemOf(found, ask, parts);
  const { audio, loop } = await withTimeout(
    clock,
    audioOf(found, modem, { ...parts, ask }),
    AUDIO_TIMEOUT_MS,
    () => new Error('took too long'),
  ).catch((error: unknown) => nothingHeard(messageOf(error)));
  return {
    ...found,
    usb,
    modem,
    audio,
    loop,
    onHub: usb === undefined ? [] : [...host.usb.values()].filter(({ hub }) => hub.path === usb.hub.path),
    nodes: nodesOf([...(place?.ports ?? []), place?.audio?.port]),
    cardNodes: card === undefined ? [] : nodesOf(cardPaths(card, devRoot)),
    cardRatesHz: card === undefined ? undefined : await cardRates(join(procRoot, 'asound', card, 'stream0')),
  };
}

async function modemOf(
  { device, place, slot }: FoundSlot,
  ask: AskModem,
  { desk, discovers }: SlotExaminationParts,
): Promise<SlotView['modem']> {
  const untried = (why: string): NoAnswers => ({ why, wasTried: false });
  if (desk === undefined) return untried('was not asked: the modems cannot be asked, see above');
  if (slot === undefined) {
    if (place === undefined || place.ports.length === 0) return untried('has no port');
    if (!discovers) return untried('was not asked: no slot has it, and discover is off');
    return { why: 'did not tell which modem it is', wasTried: true };
  }
  if (slot.state === 'lost') {
    return { why: `does not answer (${slot.reason ?? 'lost'})`, wasTried: TRIED.has(slot.reason ?? '') };
  }
  try {
    return await askAll(ask, { usbId: device?.id, signal: AbortSignal.timeout(QUESTIONS_TIMEOUT_MS) });
  } catch (error) {
    const why = messageOf(error);
    return isUntried(error)
      ? untried(`was not asked: ${why}`)
      : { why: `does not answer: ${why}`, wasTried: true };
  }
}

/** The daemon said that it did not ask, or nothing at all: neither says anything about the modem. */
function isUntried(error: unknown): boolean {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  return (
    cause instanceof DeskSilentError || (cause instanceof OperatorError && cause.reason !== 'unanswered')
  );
}

class DeskSilentError extends Error {}

const nothingHeard = (why: string): { audio: HeardAudio; loop: LoopResult } => ({
  audio: { kind: 'not_heard', why },
  loop: { kind: 'not_done', why },
});

async function audioOf(
  { place }: FoundSlot,
  modem: SlotView['modem'],
  { ask, clock, desk, openPort, playsTones }: SlotExaminationParts & { ask: AskModem },
): Promise<{ audio: HeardAudio; loop: LoopResult }> {
  const port = place?.audio?.port;
  if (!('profile' in modem)) return nothingHeard('the modem was not asked');
  const { loop, isGpsApart } = diagnosisOf(modem.profile);
  if (place?.audio?.card !== undefined && modem.profile.voice.card !== undefined)
    return nothingHeard('its audio is a sound card, which is heard in calls only');
  if (port === undefined) return nothingHeard('no audio port is known');
  // A modem that does not answer this is left alone, too.
  if (!(await isIdle(ask).catch(() => false))) return nothingHeard('the modem is in a call');
  // A call that comes meanwhile finds the port taken, so doctor listens only where necessary.
  const audio: HeardAudio =
    isGpsApart(modem) === true
      ? { kind: 'not_heard', why: 'need not be listened to' }
      : await listenTo(openPort, port, clock);
  const notDone = (why: string): LoopResult => ({ kind: 'not_done', why });
  if (loop === undefined)
    return { audio, loop: notDone('this make gives audio back in calls only: call it, and listen') };
  if (desk?.isRunningDaemon === true && !playsTones)
    return { audio, loop: notDone('a call in that second would be disturbed: --loop-test does it') };
  return { audio, loop: await testLoop(loop, port, { ask, openPort, clock }) };
}

/** `Rates: 8000, 16000` in the file of the driver of USB sound cards; continuous ranges look different. */
async function cardRates(file: string): Promise<number[] | undefined> {
  const text = await readFile(file, 'utf8').catch(() => '');
  const rates = [...text.matchAll(/^\s*Rates: (\d[\d, ]*)$/gm)].flatMap(([, list = '']) => list.split(','));
  return rates.length === 0 ? undefined : [...new Set(rates.map(Number))];
}
