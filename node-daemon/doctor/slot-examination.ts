// Examines one slot: its device files, its modem's answers and the audio of its port, each with a time limit.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clock, withTimeout } from '#shared/clock.ts';
import { messageOf } from '#shared/error-message.ts';
import type { OpenPort } from '../at/port.ts';
import { isIdle, testLoop } from './audio-loop.ts';
import { listenTo } from './audio-port.ts';
import { diagnosisOf } from './makes/find-diagnosis.ts';
import { askAll, isUntried } from './questions.ts';
import { cardPaths, type FoundSlot, type RackAccess } from './rack-slots.ts';
import { type Programs, readDeviceNode } from './seen/device-node.ts';
import { type HostView, PROC } from './seen/host-view.ts';
import type { AskModem, HeardAudio, LoopResult, NoAnswers, SlotView } from './seen/slot-view.ts';

/** A healthy modem answers a query within 300 ms. */
const ANSWER_TIMEOUT_MS = 2_000;
/** For a daemon that does not answer, or that waits for the modem itself. */
const DAEMON_TIMEOUT_MS = ANSWER_TIMEOUT_MS + 500;
const QUESTIONS_TIMEOUT_MS = 5_000;
/** Listening and the tone take three seconds. */
const AUDIO_TIMEOUT_MS = 5_000;
/** Reasons of a lost modem whose port was opened. For the other reasons it was not. */
const TRIED: ReadonlySet<string> = new Set(['silent', 'faulty', 'gave_up', 'port_gone', 'no_service']);

/** The parts that an examination uses. */
interface SlotExaminationParts {
  /** Undefined if the modems cannot be queried. */
  readonly rack: RackAccess | undefined;
  /** Whether the daemon uses modems that no slot of the configuration names. */
  readonly discovers: boolean;
  readonly host: HostView;
  readonly programs: Programs;
  readonly openPort: OpenPort;
  readonly devRoot: string;
  /** Returns the file that resets a USB device; `undefined` if the daemon does not reset it so. */
  readonly resetFileOf: (usbPath: string) => string | undefined;
  /** Whether tones may be played into modems. */
  readonly playsTones: boolean;
  readonly clock: Clock;
}

/** Never rejects. */
export async function examineSlot(found: FoundSlot, parts: SlotExaminationParts): Promise<SlotView> {
  const { clock, rack, devRoot, host, programs } = parts;
  const { device, name, place } = found;
  const usb = device === undefined ? undefined : host.usb.get(device.usbPath);
  const card = place?.audio?.card;
  const resetPath = device === undefined ? undefined : parts.resetFileOf(device.usbPath);
  const nodesOf = (paths: readonly (string | undefined)[]) =>
    paths.flatMap((path) => (path === undefined ? [] : (readDeviceNode(path, programs) ?? [])));
  const ask: AskModem = (command) => {
    if (rack === undefined) return Promise.reject(new Error('the modems cannot be queried'));
    const answer = rack.at(name, command, {
      timeoutMs: ANSWER_TIMEOUT_MS,
      turnMs: ANSWER_TIMEOUT_MS,
      unsafe: true,
    });
    return withTimeout(
      clock,
      answer,
      DAEMON_TIMEOUT_MS,
      () => new Error(`no answer within ${DAEMON_TIMEOUT_MS / 1_000} s`),
    );
  };
  const modem = await modemOf(found, ask, parts);
  const { audio, loop } = await withTimeout(
    clock,
    audioOf(found, modem, { ...parts, ask }),
    AUDIO_TIMEOUT_MS,
    () => new Error('the test took too long'),
  ).catch((error: unknown) => nothingHeard(messageOf(error)));
  return {
    ...found,
    usb,
    modem,
    audio,
    loop,
    onHub: usb === undefined ? [] : [...host.usb.values()].filter(({ hub }) => hub.path === usb.hub.path),
    nodes: nodesOf([...(place?.ports ?? []), place?.audio?.port]),
    resetFile: resetPath === undefined ? undefined : readDeviceNode(resetPath, programs),
    cardNodes: card === undefined ? [] : nodesOf(cardPaths(card, devRoot)),
    cardRatesHz: card === undefined ? undefined : await cardRates(join(PROC, 'asound', card, 'stream0')),
  };
}

async function modemOf(
  { device, place, slot }: FoundSlot,
  ask: AskModem,
  { rack, discovers }: SlotExaminationParts,
): Promise<SlotView['modem']> {
  const untried = (why: string): NoAnswers => ({ why, wasTried: false });
  if (rack === undefined) return untried('not queried: the modems cannot be queried, see above');
  if (slot === undefined) {
    if (place === undefined || place.ports.length === 0) return untried('no port');
    if (!discovers) return untried('not queried: it has no slot, and discover is off');
    return { why: 'did not answer with its IMEI', wasTried: true };
  }
  if (slot.state === 'lost') {
    const failed = slot.failed_step == null ? '' : `; recovery step failed: ${slot.failed_step}`;
    const wasTried = TRIED.has(slot.reason ?? '');
    return { why: `does not answer (${slot.reason ?? 'lost'})${failed}`, wasTried, wasExpected: true };
  }
  try {
    return await askAll(ask, { usbId: device?.id, signal: AbortSignal.timeout(QUESTIONS_TIMEOUT_MS) });
  } catch (error) {
    const why = messageOf(error);
    return isUntried(error)
      ? { ...untried(`not queried: ${why}`), wasExpected: true }
      : { why: `does not answer: ${why}`, wasTried: true };
  }
}

const nothingHeard = (why: string): { audio: HeardAudio; loop: LoopResult } => ({
  audio: { kind: 'not_heard', why },
  loop: { kind: 'not_done', why },
});

async function audioOf(
  { place }: FoundSlot,
  modem: SlotView['modem'],
  { ask, clock, rack, openPort, playsTones }: SlotExaminationParts & { ask: AskModem },
): Promise<{ audio: HeardAudio; loop: LoopResult }> {
  const port = place?.audio?.port;
  if (!('profile' in modem)) return nothingHeard('the modem was not queried');
  const { loop, isGpsApart } = diagnosisOf(modem.profile);
  if (place?.audio?.card !== undefined && modem.profile.voice.card !== undefined)
    return nothingHeard('the modem has a sound card, which carries audio only in calls');
  if (port === undefined) return nothingHeard('no audio port is known');
  // A modem that does not answer this query is left alone, too.
  if (!(await isIdle(ask).catch(() => false))) return nothingHeard('the modem has a call');
  // While doctor listens, a call cannot open the port, so doctor listens only if necessary.
  const audio: HeardAudio =
    isGpsApart(modem) === true
      ? { kind: 'not_heard', why: 'not needed: no GPS text goes to the audio port' }
      : await listenTo(openPort, port, clock);
  const notDone = (why: string): LoopResult => ({ kind: 'not_done', why });
  if (loop === undefined)
    return { audio, loop: notDone('this make loops audio back only in calls: call it and listen') };
  if (rack?.isRunningDaemon === true && !playsTones)
    return { audio, loop: notDone('skipped because it would disturb a call: use --loop-test to run it') };
  return { audio, loop: await testLoop(loop, port, { ask, openPort, clock }) };
}

/** Reads `Rates: 8000, 16000` from the USB sound card driver's file. Continuous ranges have another form and are skipped. */
async function cardRates(file: string): Promise<number[] | undefined> {
  const text = await readFile(file, 'utf8').catch(() => '');
  const rates = [...text.matchAll(/^\s*Rates: (\d[\d, ]*)$/gm)].flatMap(([, list = '']) => list.split(','));
  return rates.length === 0 ? undefined : [...new Set(rates.map(Number))];
}
