// Plays a tone into a modem that loops its audio back, and checks the audio that returns.
import { type Clock, sleep } from '#shared/clock.ts';
import { messageOf } from '#shared/error-message.ts';
import type { OpenPort, Port } from '../at/port.ts';
import { Collected } from './audio-port.ts';
import type { AudioLoop } from './makes/make-diagnosis.ts';
import type { AskModem, LoopResult } from './seen/slot-view.ts';

const SAMPLE_RATE_HZ = 8_000;
const FRAME_MS = 20;
const FRAME_SAMPLES = (SAMPLE_RATE_HZ * FRAME_MS) / 1000;
const FRAMES = 40;
/** Time until the last frame has come back, after it was written. */
const REST_MS = 200;
/** Gives a whole number of periods in a frame, and is in the middle of the telephone band. */
const TONE_HZ = 1_000;
/** Is -12 dBFS. */
const TONE_AMPLITUDE = 8_192;
/** Is -40 dBFS. Anything below it is silence. */
const LOUD = 328;
/** A quarter of a second of the tone is enough. */
const JUDGED_SAMPLES = 2_000;
/** The tone must have this share of the power. */
const PURITY_MIN = 0.9;

/** Never rejects. Returns `not_done` if the modem refuses or is in a call, or if its port cannot be opened. */
export async function testLoop(
  loop: AudioLoop,
  path: string,
  { ask, openPort, clock }: { ask: AskModem; openPort: OpenPort; clock: Clock },
): Promise<LoopResult> {
  try {
    if (!(await isIdle(ask))) return { kind: 'not_done', why: 'the modem has a call' };
    try {
      for (const command of loop.on) {
        const { final } = await ask(command);
        if (final !== 'OK') return { kind: 'not_done', why: `the modem refused ${command}: ${final}` };
      }
      return { kind: judgeTone(await playAndListen(await openPort(path), clock)) };
    } finally {
      // The audio of a call that has come meanwhile must stay on, so only the loop ends.
      const off = (await isIdle(ask)) ? loop.off : loop.off.slice(0, 1);
      for (const command of off) await ask(command);
    }
  } catch (error) {
    return { kind: 'not_done', why: messageOf(error) };
  }
}

/** Returns whether the modem has no call. Rejects as `ask` does. */
export async function isIdle(ask: AskModem): Promise<boolean> {
  const { final, lines } = await ask('AT+CLCC');
  // The fourth field is 1 for data, and LTE always has a data context.
  return final === 'OK' && !lines.some((line) => /^\+CLCC: ?\d+,\d,\d,0,/.test(line));
}

async function playAndListen(port: Port, clock: Clock): Promise<Uint8Array> {
  const collected = new Collected();
  port.onData((bytes) => collected.add(bytes));
  try {
    const frame = toneFrame();
    for (let position = 0; position < FRAMES; position += 1) {
      await port.write(frame);
      await sleep(clock, FRAME_MS);
    }
    await sleep(clock, REST_MS);
  } finally {
    await port.close();
  }
  return collected.octets;
}

/** Returns one frame of the tone, S16LE. Frames in a row make one tone without clicks. */
export function toneFrame(): Buffer {
  const frame = Buffer.alloc(FRAME_SAMPLES * 2);
  for (let position = 0; position < FRAME_SAMPLES; position += 1) {
    const phase = (2 * Math.PI * TONE_HZ * position) / SAMPLE_RATE_HZ;
    frame.writeInt16LE(Math.round(TONE_AMPLITUDE * Math.sin(phase)), position * 2);
  }
  return frame;
}

/** Returns what S16LE octets contain: the tone, silence, or something else. */
export function judgeTone(octets: Uint8Array): 'back' | 'silence' | 'noise' {
  const bytes = Buffer.from(octets);
  const samples = Array.from({ length: Math.floor(bytes.length / 2) }, (_, position) =>
    bytes.readInt16LE(position * 2),
  );
  const begin = samples.findIndex((sample) => Math.abs(sample) >= LOUD);
  const judged = begin < 0 ? [] : samples.slice(begin, begin + JUDGED_SAMPLES);
  if (judged.length === 0) return 'silence';
  if (judged.length < JUDGED_SAMPLES) return 'noise';
  let [sine, cosine, power] = [0, 0, 0];
  for (const [position, sample] of judged.entries()) {
    const phase = (2 * Math.PI * TONE_HZ * position) / SAMPLE_RATE_HZ;
    sine += sample * Math.sin(phase);
    cosine += sample * Math.cos(phase);
    power += sample * sample;
  }
  const tonePower = (2 * (sine * sine + cosine * cosine)) / judged.length;
  return tonePower >= PURITY_MIN * power ? 'back' : 'noise';
}
