// The audio of a call whose card or port goes and comes back: the client's link goes on, and the record counts all of it.
import t from 'tap';
import { AtChannel } from '#node-daemon/at/channel.ts';
import { HELD_FRAMES_MAX } from '#node-daemon/audio/jitter-buffer.ts';
import { QUECTEL_VOICE } from '#node-daemon/profiles/quectel.ts';
import { type MediaEvents, Telephone } from '#node-daemon/voice/telephone.ts';
import { silentLogger } from '#shared/log.ts';
import type { AudioStatistics } from '#shared/voice/call.ts';
import { FRAME_SAMPLES } from '#shared/voice/media.ts';
import { loadResampler } from '#shared/voice/resample.ts';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';
import { FakePcm } from '../audio/fake-pcm.ts';
import { pass, portWithCalls, runTasks } from './line-rig.ts';

const TO = '+13105550188';
const ID = 'call-00000001';
const createResampler = await loadResampler();

async function talking() {
  const clock = new ManualClock(0);
  const modem = { calls: [] as string[] };
  const port = portWithCalls(modem);
  port.on(/^ATD/, () => {
    modem.calls = [`+CLCC: 1,0,0,0,0,"${TO}",145`];
    return '\r\nOK\r\n';
  });
  const devices: FakePcm[] = [];
  let canOpen = true;
  let isBroken = false;
  let record: AudioStatistics | null | undefined;
  const ends: unknown[] = [];
  const calls = {
    note: () => undefined,
    newId: () => ID,
    end: (_id: string, end: unknown, audio: AudioStatistics | null) => {
      ends.push(end);
      record = audio;
    },
  };
  const telephone = new Telephone({
    iccid: '8901000000000000017',
    channel: new AtChannel(port, clock, silentLogger),
    clock,
    log: silentLogger,
    voice: QUECTEL_VOICE,
    isRegistered: () => true,
    createResampler,
    access: {
      audio: QUECTEL_VOICE.serial,
      open: async () => {
        if (!canOpen) throw new Error('not there');
        const device = new FakePcm();
        devices.push(device);
        if (isBroken) device.vanish(new Error('arecord exited (1)'));
        return device;
      },
    },
    calls,
    takesCall: () => true,
    onAudioDegraded: () => undefined,
  });
  void telephone.dial(ID, TO);
  await pass(clock, 1_000);
  let events: MediaEvents | undefined;
  let [played, granted, sent] = [0, 0, 0];
  const reported: number[] = [];
  await telephone.attach(ID, async (given) => {
    events = given;
    return {
      sendCapture: (frame) => {
        ({ played, granted } = frame);
        reported.push(played);
        return true;
      },
      sendDigit: () => undefined,
      close: () => undefined,
    };
  });
  const talk = (): void => {
    if (sent >= granted) return;
    events?.onPlayout(new Int16Array(FRAME_SAMPLES).fill(1_000), false);
    sent += 1;
  };
  return {
    clock,
    devices,
    ends,
    telephone,
    reported,
    talk,
    client: () => ({ played, granted, sent }),
    clear: () => events?.onClear(),
    canOpen: (can: boolean) => {
      canOpen = can;
    },
    /** Each further card or port is gone as soon as it is open. */
    breakAll: () => {
      isBroken = true;
    },
    record: () => record,
    /** The modem gives that many frames, and the client sends what it may. */
    run: (frames: number) => {
      for (let frame = 0; frame < frames; frame += 1) {
        clock.advance(20);
        talk();
        devices.at(-1)?.give(new Uint8Array(320).fill(1));
      }
    },
  };
}

t.test('a port that goes again and again: the client may send on, and all is counted', async (t) => {
  const { canOpen, clear, client, clock, devices, record, run, talk, telephone, reported } = await talking();
  for (let loss = 0; loss < 5; loss += 1) {
    run(100);
    canOpen(false);
    devices.at(-1)?.vanish(new Error('the port is gone'));
    await runTasks();
    // These were on their way.
    for (let frame = 0; frame < 3; frame += 1) talk();
    const cleared = clear();
    t.ok((cleared?.played ?? 0) <= client().sent, `cleared ${cleared?.played} of ${client().sent}`);
    canOpen(true);
    await pass(clock, 1_000);
  }
  t.equal(devices.length, 6);
  const before = client();
  run(100);
  t.ok(client().sent - before.sent >= 95, `sent ${client().sent - before.sent} of 100`);
  t.equal(client().granted - client().played, HELD_FRAMES_MAX);
  t.ok(client().sent - client().played <= HELD_FRAMES_MAX, 'as before');
  t.same(
    reported,
    [...reported].sort((a, b) => a - b),
    'the count of played frames never goes down',
  );
  const hungUp = telephone.hangUp('local_hangup');
  await pass(clock, 2_000);
  await hungUp;
  t.equal(record()?.captured_frames, 600);
  t.ok((record()?.played_frames ?? 0) > 500, `${record()?.played_frames} played`);
});

t.test('a call that ends while its audio is away keeps the earlier counts in its record', async (t) => {
  const { canOpen, clock, devices, record, run, telephone } = await talking();
  run(50);
  canOpen(false);
  devices.at(-1)?.vanish(new Error('the port is gone'));
  await pass(clock, 400);
  const hungUp = telephone.hangUp('local_hangup');
  await pass(clock, 2_000);
  await hungUp;
  t.equal(record()?.captured_frames, 50);
  t.ok(devices.every(({ closes }) => closes > 0));
});

t.test('audio that stays away: the call is ended, since neither side can use it', async (t) => {
  const { canOpen, clock, devices, ends, record, run } = await talking();
  run(50);
  canOpen(false);
  devices.at(-1)?.vanish(new Error('the port is gone'));
  await pass(clock, 2_000);
  t.same(ends, [], 'it may come back');
  await pass(clock, 5_000);
  t.match(ends, [{ reason: 'modem_lost', cause: 41 }]);
  t.equal(record()?.captured_frames, 50);
});

t.test('audio that opens and is gone at once: the call is ended after as many attempts', async (t) => {
  const { breakAll, clock, devices, ends, run } = await talking();
  run(100);
  breakAll();
  devices.at(-1)?.vanish(new Error('the card is gone'));
  await runTasks();
  t.ok(devices.length <= 2, `${devices.length} devices without a pause`);
  await pass(clock, 2_000);
  t.same(ends, [], 'it may come back');
  await pass(clock, 5_000);
  t.match(ends, [{ reason: 'modem_lost', cause: 41 }]);
  t.equal(devices.length, 11);
  t.ok(devices.slice(1).every(({ closes }) => closes > 0));
});

t.test('audio that gives a frame and is gone, again and again: the call is ended too', async (t) => {
  const { clock, devices, ends, run } = await talking();
  for (let loss = 0; loss < 10; loss += 1) {
    t.same(ends, []);
    run(1);
    devices.at(-1)?.vanish(new Error('the card is gone'));
    await pass(clock, 400);
  }
  await pass(clock, 2_000);
  t.match(ends, [{ reason: 'modem_lost', cause: 41 }]);
  t.equal(devices.length, 10);
});
