// One line over a scripted modem that takes every command, has no call, and says what a test has it say.
import { AtChannel } from '#node-daemon/at/channel.ts';
import { GENERIC_VOICE } from '#node-daemon/profiles/generic.ts';
import type { MakeVoice } from '#node-daemon/profiles/profile.ts';
import { AudioSwitch } from '#node-daemon/voice/audio-switch.ts';
import { type CallEnd, LineControl } from '#node-daemon/voice/line-control.ts';
import type { LineCall } from '#node-daemon/voice/state/line-state.ts';
import { silentLogger } from '#shared/log.ts';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';
import { lines, ScriptedPort } from '../../fixtures/nodes/scripted-port.ts';

const IDLE = /^AT\+(CLCC|CEER)$/;

/** A modem that takes every command; `calls` is its answer to AT+CLCC, and empty once it has hung up. */
export function portWithCalls(modem: { calls: string[] }): ScriptedPort {
  return new ScriptedPort()
    .on(/^AT/, lines('OK'))
    .on(/^AT\+CMEE\?$/, lines('+CMEE: 1', 'OK'))
    .on(/^AT\+CEER$/, lines('ERROR'))
    .on(/^AT\+CLCC$/, () => lines(...modem.calls, 'OK'))
    .on(/^AT(\+CHUP|H)$/, () => {
      modem.calls = [];
      return lines('OK');
    });
}

export class LineRig {
  readonly clock = new ManualClock(0);
  readonly port = portWithCalls(this);
  readonly line: LineControl;
  /** The reports of the call, in order. */
  readonly reported: LineCall[] = [];
  readonly ends: CallEnd[] = [];
  readonly keys: string[] = [];
  /** The answer to AT+CLCC, without its OK. */
  calls: string[] = [];

  constructor(voice: MakeVoice = GENERIC_VOICE) {
    const channel = new AtChannel(this.port, this.clock, silentLogger);
    const parts = { channel, clock: this.clock, log: silentLogger };
    this.line = new LineControl({
      ...parts,
      voice,
      isRegistered: () => true,
      audioSwitch: new AudioSwitch({ ...parts, audio: voice.serial, onDegraded: () => undefined }),
      observer: {
        onCall: (call) => this.reported.push(call),
        onEnd: (end) => this.ends.push(end),
        onDigit: (digit) => this.keys.push(digit),
        onAudioFlow: () => undefined,
      },
    });
  }

  /** The commands that it got, without those that are repeated all the time. */
  get written(): string[] {
    return this.port.received.filter((text) => !IDLE.test(text));
  }

  async say(...texts: string[]): Promise<void> {
    this.port.say(lines(...texts));
    await runTasks();
  }

  pass(ms: number): Promise<void> {
    return pass(this.clock, ms);
  }
}

/** Moves time on, from one thing that is due to the next, so that every answer comes in its time. */
export async function pass(clock: ManualClock, ms: number): Promise<void> {
  for (let left = ms; left > 0; ) {
    await runTasks();
    const stepMs = Math.min(left, clock.untilNextMs);
    clock.advance(stepMs);
    left -= stepMs;
  }
  await runTasks();
}

/** Lets everything happen that happens without time. */
export async function runTasks(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
