// The audio of a call over a modem that misbehaves: what was lost is counted, and nothing is lost beyond that.
import t from 'tap';
import type { Rate } from '#node-daemon/audio/frame-cutter.ts';
import { HELD_FRAMES_MAX } from '#node-daemon/audio/jitter-buffer.ts';
import { type Captured, ModemAudio } from '#node-daemon/audio/modem-audio.ts';
import { FRAME_SAMPLES } from '#shared/voice/media.ts';
import { type CreateResampler, loadResampler } from '#shared/voice/resample.ts';
import { measureTone, tone } from '../../fixtures/audio/tone.ts';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';
import { FakePcm } from './fake-pcm.ts';

const load = await loadResampler();
const QUIET = {
  captured_frames: 0,
  played_frames: 0,
  late_frames: 0,
  dropped_frames: 0,
  lost_frames: 0,
  capture_gaps: 0,
  xruns: 0,
};

const octetsOf = (samples: Int16Array): Uint8Array =>
  new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength);
const samplesOf = (octets: Uint8Array): Int16Array => new Int16Array(octets.slice().buffer);

interface Options {
  rateHz?: Rate | 'measured';
  /** Rate of the modem's samples. */
  actualHz?: Rate;
  keys?: boolean;
}

function setUp({
  rateHz = 8_000,
  actualHz = rateHz === 'measured' ? 8_000 : rateHz,
  keys = false,
}: Options = {}) {
  const clock = new ManualClock(0);
  const device = new FakePcm();
  const captured: Captured[] = [];
  const digits: string[] = [];
  let open = 0;
  let isPassedOn = true;
  const createResampler: CreateResampler = (from, to) => {
    const resampler = load(from, to);
    open += 1;
    return {
      process: (samples) => resampler.process(samples),
      close: () => {
        open -= 1;
        resampler.close();
      },
    };
  };
  const audio = new ModemAudio({
    device,
    createResampler,
    clock,
    rateHz: rateHz === 'measured' ? undefined : rateHz,
    onFrame: (frame) => {
      captured.push(frame);
      return isPassedOn;
    },
    onDigit: keys ? (digit) => digits.push(digit) : undefined,
  });
  const signal = octetsOf(tone({ hz: 1_000, rateHz: actualHz, seconds: 30 }));
  const frameOctets = (actualHz / 50) * 2;
  let at = 0;
  /** The modem gives that many frames of a tone, one each 20 ms; `each` is done before a frame. */
  const run = (frames: number, each: (frame: number) => void = () => undefined): void => {
    for (let frame = 0; frame < frames; frame += 1) {
      clock.advance(20);
      each(frame);
      device.give(signal.slice(at, at + frameOctets));
      at += frameOctets;
    }
  };
  return {
    audio,
    captured,
    clock,
    device,
    digits,
    frameOctets,
    run,
    /** The modem loses that many octets. */
    lose: (octets: number) => {
      at += octets;
    },
    isPassedOn: (is: boolean) => {
      isPassedOn = is;
    },
    openResamplers: () => open,
    heard: (from = 0, to?: number) =>
      Int16Array.from(captured.slice(from, to).flatMap(({ audio: samples }) => [...samples])),
    given: (from = 0, to?: number) => samplesOf(Buffer.concat(device.taken.slice(from, to))),
  };
}

/** A client that sends one frame for each that is granted. */
function talker(audio: ModemAudio, captured: readonly Captured[]) {
  const speech = tone({ hz: 500, rateHz: 16_000, seconds: 30 });
  let sent = 0;
  return {
    get sent() {
      return sent;
    },
    talk: () => {
      if (sent >= (captured.at(-1)?.granted ?? HELD_FRAMES_MAX)) return;
      audio.play(speech.slice(sent * FRAME_SAMPLES, (sent + 1) * FRAME_SAMPLES), false);
      sent += 1;
    },
  };
}

for (const rateHz of [8_000, 16_000] as const) {
  t.test(`${rateHz} Hz: a frame for a frame, both ways, as it was`, async (t) => {
    const { audio, captured, device, frameOctets, given, heard, run } = setUp({ rateHz });
    const { talk } = talker(audio, captured);
    run(200, talk);
    t.same(audio.statistics, {
      ...QUIET,
      captured_frames: 200,
      played_frames: audio.statistics.played_frames,
    });
    t.ok(audio.statistics.played_frames >= 197, `${audio.statistics.played_frames} played`);
    t.equal(device.taken.length, 200);
    t.ok(device.taken.every(({ length }) => length === frameOctets));
    t.ok(captured.every(({ audio: samples }) => samples.length === FRAME_SAMPLES));
    const up = measureTone(heard(50), { hz: 1_000, rateHz: 16_000 });
    t.ok(up.sinadDb > 60 && Math.abs(up.levelDb) < 0.1, `heard: ${JSON.stringify(up)}`);
    const down = measureTone(given(50, 150), { hz: 500, rateHz });
    t.ok(down.sinadDb > 60 && Math.abs(down.levelDb) < 0.1, `given: ${JSON.stringify(down)}`);
  });
}

t.test(
  'octets get lost: no frame more than they are is missing, and a pause puts it right at the latest',
  async (t) => {
    for (const octets of [1, 3, 319, 320, 321]) {
      const { audio, captured, clock, device, heard, lose, run } = setUp();
      run(100);
      lose(octets);
      run(100);
      t.ok(audio.statistics.captured_frames >= 199, `${octets}: ${audio.statistics.captured_frames} frames`);
      t.equal(device.taken.length, captured.length, 'the modem gets as many as it gives');
      t.equal(audio.statistics.capture_gaps, 0);
      clock.advance(100);
      // The tone goes on at a sample, as the modem's own stream does after it.
      if (octets % 2 === 1) lose(1);
      const from = captured.length;
      run(60);
      t.equal(audio.statistics.capture_gaps, 1);
      t.equal(captured.length - from, 60);
      t.ok(
        measureTone(heard(from + 10), { hz: 1_000, rateHz: 16_000 }).sinadDb > 60,
        `${octets}: clean again`,
      );
    }
  },
);

t.test('a stall is one gap, of whatever length; the client’s audio waits, and is not late', async (t) => {
  const { audio, captured, clock, device, run } = setUp();
  const client = talker(audio, captured);
  run(100, client.talk);
  for (const stallMs of [120, 1_000, 30_000]) {
    const before = audio.statistics;
    clock.advance(stallMs);
    client.talk();
    run(100, client.talk);
    const { capture_gaps: gaps, dropped_frames: dropped, late_frames: late } = audio.statistics;
    t.equal(gaps, before.capture_gaps + 1);
    t.equal(dropped, 0);
    t.equal(late, before.late_frames);
  }
  t.equal(device.taken.length, 400);
  t.ok(client.sent - audio.statistics.played_frames <= HELD_FRAMES_MAX, 'nothing is lost');
});

t.test('a client that sends too much, or nothing', async (t) => {
  const { audio, captured, device, run } = setUp();
  run(100);
  t.same(audio.statistics, { ...QUIET, captured_frames: 100 });
  t.ok(
    device.taken.every((octets) => octets.every((octet) => octet === 0)),
    'it is given silence',
  );
  for (let frame = 0; frame < 100; frame += 1) audio.play(new Int16Array(FRAME_SAMPLES).fill(1_000), false);
  t.equal(audio.statistics.dropped_frames, 100 - HELD_FRAMES_MAX);
  run(20);
  t.equal(captured.at(-1)?.played, 100, 'all are accounted for');
  t.equal(captured.at(-1)?.granted, 100 + HELD_FRAMES_MAX);
});

t.test('the rate is measured: 16 kHz where 8 kHz are usual, and the other way round', async (t) => {
  for (const actualHz of [8_000, 16_000] as const) {
    const { audio, captured, device, frameOctets, heard, run } = setUp({ rateHz: 'measured', actualHz });
    const { talk } = talker(audio, captured);
    run(300, talk);
    t.ok(captured.length > 280, `${actualHz}: ${captured.length} frames`);
    t.ok(device.taken.every(({ length }) => length === frameOctets));
    const { sinadDb, levelDb } = measureTone(heard(50), { hz: 1_000, rateHz: 16_000 });
    t.ok(sinadDb > 60 && Math.abs(levelDb) < 0.1, `${actualHz}: SINAD ${sinadDb}, ${levelDb} dB`);
    t.equal(audio.statistics.late_frames, 0);
    t.equal(audio.statistics.dropped_frames, 0);
  }
});

t.test('another rate than reported: noise, and no frame waits', async (t) => {
  for (const [rateHz, actualHz] of [
    [8_000, 16_000],
    [16_000, 8_000],
  ] as const) {
    const { audio, captured, device, run } = setUp({ rateHz, actualHz });
    run(200);
    t.equal(captured.length, (200 * actualHz) / rateHz);
    const missing = (200 * actualHz * 2) / 50 - Buffer.concat(device.taken).length;
    t.ok(missing >= 0 && missing <= 320, 'as many octets go as come, but for one frame at first');
    t.same(audio.statistics, { ...QUIET, captured_frames: captured.length });
  }
});

t.test(
  'sentences of NMEA before and between the samples: nothing ends, and a pause puts it right',
  async (t) => {
    const { audio, captured, clock, device, heard, run } = setUp();
    const sentence = Buffer.from('$GPGSV,3,1,11,03,03,111,00,04,15,270,00,06,01,010,00,13,06,292,00*74\r\n');
    device.give(sentence);
    clock.advance(500);
    device.give(sentence.subarray(0, 33));
    clock.advance(500);
    run(60);
    t.equal(audio.statistics.captured_frames, 60, 'earlier samples are no part of the first frame');
    t.ok(measureTone(heard(10), { hz: 1_000, rateHz: 16_000 }).sinadDb > 60);
    run(100, (frame) => {
      if (frame % 25 === 0) device.give(sentence);
    });
    t.ok(captured.length >= 160 && captured.length <= 161, `${captured.length} frames`);
    clock.advance(200);
    const from = captured.length;
    run(60);
    t.ok(measureTone(heard(from + 10), { hz: 1_000, rateHz: 16_000 }).sinadDb > 60);
  },
);

t.test('a modem that takes nothing: the client’s frames are counted, and the far end is heard', async (t) => {
  const { audio, captured, device, run } = setUp();
  const client = talker(audio, captured);
  run(50, client.talk);
  const { played_frames: played } = audio.statistics;
  device.takes = false;
  run(100, client.talk);
  t.match(audio.statistics, { captured_frames: 150, played_frames: played, late_frames: 0 });
  t.ok(audio.statistics.dropped_frames >= 99, `${audio.statistics.dropped_frames} dropped`);
  device.takes = true;
  run(50, client.talk);
  t.ok(audio.statistics.played_frames - played >= 49, 'as soon as it takes them it is given them');
  const { dropped_frames: dropped, played_frames: all } = audio.statistics;
  t.ok(client.sent - dropped - all <= HELD_FRAMES_MAX, 'each is played, dropped or held');
});

t.test('a modem that asks for a pause: nothing is written meanwhile, and nothing lost', async (t) => {
  const { audio, captured, device, run } = setUp();
  const client = talker(audio, captured);
  run(50, client.talk);
  audio.setPaused(true);
  const written = device.taken.length;
  run(200, client.talk);
  t.equal(device.taken.length, written);
  t.equal(captured.length, 250, 'it is heard meanwhile');
  t.equal(captured.at(-1)?.played, captured[51]?.played, 'and reported that nothing was played');
  audio.setPaused(false);
  run(50, client.talk);
  t.equal(device.taken.length, written + 50);
  t.match(audio.statistics, { late_frames: 0, dropped_frames: 0 });
  t.ok(client.sent - audio.statistics.played_frames <= HELD_FRAMES_MAX);
});

t.test('a media link that takes no frames: they are counted as lost', async (t) => {
  const { audio, isPassedOn, run } = setUp();
  run(10);
  isPassedOn(false);
  run(7);
  isPassedOn(true);
  run(10);
  t.same(audio.statistics, { ...QUIET, captured_frames: 27, lost_frames: 7 });
});

t.test('a clear in the middle returns what was played, and silence follows within two frames', async (t) => {
  const { audio, captured, device, run } = setUp();
  const client = talker(audio, captured);
  run(50, client.talk);
  for (let frame = 0; frame < HELD_FRAMES_MAX; frame += 1) client.talk();
  const { played, dropped } = audio.clear();
  t.equal(played, client.sent);
  t.ok(dropped > 0 && dropped <= HELD_FRAMES_MAX);
  run(3);
  t.ok(samplesOf(device.taken.at(-1) ?? new Uint8Array(0)).every((sample) => Math.abs(sample) < 50));
  t.same(audio.clear(), { played: client.sent, dropped: 0 });
});

t.test('a close in the middle of a frame: nothing is reported after it, and no memory kept', async (t) => {
  const { audio, captured, device, openResamplers, run } = setUp({ keys: true });
  run(10);
  t.equal(openResamplers(), 2);
  device.give(new Uint8Array(100));
  const closing = audio.close();
  device.give(new Uint8Array(10_000));
  await closing;
  device.give(new Uint8Array(10_000));
  audio.play(new Int16Array(FRAME_SAMPLES), false);
  audio.clear();
  audio.setPaused(true);
  await audio.close();
  t.equal(captured.length, 10);
  t.equal(device.taken.length, 10);
  t.equal(audio.statistics.captured_frames, 10);
  t.equal(openResamplers(), 0);
});

t.test('pieces of any size and any content', async (t) => {
  const { audio, captured, clock, device } = setUp({ keys: true });
  let octets = 0;
  for (let piece = 0; octets < 320 * 500; piece += 1) {
    const length = (piece * 7919) % 1_500;
    octets += length;
    clock.advance(length / 16);
    device.give(new Uint8Array(length).map((_, index) => (index * 31 + piece * 17) % 256));
  }
  t.equal(captured.length, Math.floor(octets / 320));
  const leftOut = captured.length - device.taken.length;
  t.ok(leftOut >= 0 && leftOut <= captured.length / 50, 'at most one in a second is left out');
  t.equal(audio.statistics.capture_gaps, 0);
});
