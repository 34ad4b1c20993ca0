// A node that sends the audio of one call much faster than real time, or frames that are none, or that never says what it played.
import { EventEmitter } from 'node:events';
import t from 'tap';
import type { WebSocket } from 'ws';
import { audioBudgets } from '#control-plane/nodes/frame-limiter.ts';
import { AudioBridge, type AudioListener } from '#control-plane/voice/audio-bridge.ts';
import { silentLogger } from '#shared/log.ts';
import { MEDIA_CLOSE } from '#shared/voice/close-code.ts';
import { encodeCapture, FRAME_BYTES } from '#shared/voice/media.ts';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';

/** Bridge of a call of the node `rack-1`. */
const bridgeOf = (
  clock: ManualClock,
  more: Partial<ConstructorParameters<typeof AudioBridge>[0]> = {},
): AudioBridge =>
  new AudioBridge({
    budget: audioBudgets(clock).of('rack-1', '8901'),
    queueFrames: 10,
    clock,
    log: silentLogger,
    onLinkClosed: () => undefined,
    onAudio: () => undefined,
    ...more,
  });

t.test('a flood rests the link, and the clock resumes it', async (t) => {
  const clock = new ManualClock();
  const asked: string[] = [];
  const link = Object.assign(new EventEmitter(), {
    pause: () => asked.push('pause'),
    resume: () => asked.push('resume'),
  });
  let heard = 0;
  const bridge = bridgeOf(clock, {
    onAudio: () => {
      heard += 1;
    },
  });
  bridge.connect(link as unknown as WebSocket);
  const audio = new Uint8Array(FRAME_BYTES);
  const capture = (frames: number): void => {
    for (let sequence = 0; sequence < frames; sequence += 1)
      link.emit('message', Buffer.from(encodeCapture({ sequence, played: 0, granted: 0, audio })), true);
  };
  capture(1_000);
  t.same(asked, [], 'twenty seconds of audio may come at once, after a pause of the network');
  // It stops here, or no number of frames stops it.
  while (asked.length === 0 && heard < 1_000_000) capture(100);
  t.same(asked, ['pause']);
  const beforeRest = heard;
  capture(100);
  t.equal(heard, beforeRest + 100, 'frames that the socket had read count');
  t.same(asked, ['pause']);
  clock.advance(1_000);
  t.same(asked, ['pause', 'resume']);
  while (asked.length === 2 && heard < 1_000_000) capture(100);
  link.emit('close', 1006);
  clock.advance(60_000);
  t.same(asked, ['pause', 'resume', 'pause'], 'a link that has ended is left alone');
});

t.test('a bad frame closes the link once, and what follows is not read', async (t) => {
  const clock = new ManualClock();
  const closes: number[] = [];
  const warnings: string[] = [];
  const link = Object.assign(new EventEmitter(), {
    close: (code: number) => closes.push(code),
    pause: () => undefined,
    resume: () => undefined,
  });
  let heard = 0;
  const bridge = bridgeOf(clock, {
    onAudio: () => {
      heard += 1;
    },
    log: { ...silentLogger, warn: (_fields, message) => warnings.push(message) },
  });
  bridge.connect(link as unknown as WebSocket);
  for (let frame = 0; frame < 1_000; frame += 1) link.emit('message', Buffer.from('a'), false);
  const capture = { sequence: 0, played: 0, granted: 0, audio: new Uint8Array(FRAME_BYTES) };
  link.emit('message', Buffer.from(encodeCapture(capture)), true);
  t.same(closes, [MEDIA_CLOSE.protocolError]);
  t.equal(warnings.length, 1);
  t.equal(heard, 0);
});

t.test('a node that never reports what it played does not collect marks without end', async (t) => {
  const clock = new ManualClock();
  const link = Object.assign(new EventEmitter(), {
    readyState: 1,
    OPEN: 1,
    bufferedAmount: 0,
    send: () => undefined,
  });
  const bridge = bridgeOf(clock);
  const reached: string[] = [];
  const listener = { audio: () => undefined, mark: (name: string) => void reached.push(name) };
  bridge.listen(listener as unknown as AudioListener, { isOther: true });
  bridge.connect(link as unknown as WebSocket);
  const audio = new Uint8Array(FRAME_BYTES);
  const report = (played: number): void => {
    const frame = encodeCapture({ sequence: 0, played, granted: 6, audio });
    link.emit('message', Buffer.from(frame), true);
  };
  report(0);
  bridge.play(audio);
  for (let mark = 0; mark < 5_000; mark += 1) bridge.mark(`mark ${mark}`);
  t.same(reached, []);
  report(1);
  t.equal(reached.length, 1_000);
  t.equal(reached.at(-1), 'mark 4999', 'the oldest were dropped');
});

t.test('a node that grants all and reads nothing gets no more than its socket holds', async (t) => {
  const link = Object.assign(new EventEmitter(), {
    readyState: 1,
    OPEN: 1,
    bufferedAmount: 0,
    send(frame: Uint8Array) {
      link.bufferedAmount += frame.length;
    },
  });
  const bridge = bridgeOf(new ManualClock(), { queueFrames: 3_000 });
  bridge.connect(link as unknown as WebSocket);
  const audio = new Uint8Array(FRAME_BYTES);
  const grant = (sequence: number): void => {
    const frame = encodeCapture({ sequence, played: 0, granted: 2 ** 32 - 1, audio });
    link.emit('message', Buffer.from(frame), true);
  };
  grant(0);
  bridge.play(new Uint8Array(2_000 * FRAME_BYTES));
  const held = link.bufferedAmount;
  t.ok(held > 32_000 && held < 70_000, `${held} bytes`);
  grant(1);
  t.equal(link.bufferedAmount, held);
  link.bufferedAmount = 0;
  grant(2);
  t.ok(link.bufferedAmount > 32_000, 'it goes on when the node reads');
});
