// Audio on a serial port: what the modem does not take is refused at once and never waits for long.
import { setImmediate as turn } from 'node:timers/promises';
import t from 'tap';
import type { Port } from '#node-daemon/at/port.ts';
import { openSerialPcm } from '#node-daemon/audio/pcm-device.ts';

/** Takes octets when a test says so. */
class SlowPort implements Port {
  readonly waiting: { octets: number; resolve: () => void; reject: (error: Error) => void }[] = [];
  closes = 0;
  gone: (reason: Error) => void = () => undefined;
  give: (octets: Uint8Array) => void = () => undefined;

  onData(handler: (octets: Uint8Array) => void): void {
    this.give = handler;
  }

  onClose(handler: (reason: Error) => void): void {
    this.gone = handler;
  }

  write({ length }: Uint8Array): Promise<void> {
    return new Promise((resolve, reject) => this.waiting.push({ octets: length, resolve, reject }));
  }

  async close(): Promise<void> {
    this.closes += 1;
  }
}

for (const frame of [320, 640]) {
  t.test(`frames of ${frame} octets: 60 ms at 16 kHz wait at most`, async (t) => {
    const port = new SlowPort();
    const pcm = await openSerialPcm(async () => port, '/dev/ttyUSB1');
    let taken = 0;
    while (taken < 100 && pcm.write(new Uint8Array(frame))) taken += 1;
    t.equal(taken * frame, 1_920);
    t.equal(pcm.write(new Uint8Array(frame)), false);
    t.equal(port.waiting.length, taken, 'refused bytes are not written later');
    port.waiting.shift()?.resolve();
    await turn();
    t.equal(pcm.write(new Uint8Array(frame)), true, 'as much as was taken is written again');
    t.equal(pcm.write(new Uint8Array(frame)), false);
  });
}

t.test(
  'a port that fails: its end is reported, and a write that fails is no unhandled rejection',
  async (t) => {
    const port = new SlowPort();
    const pcm = await openSerialPcm(async () => port, '/dev/ttyUSB1');
    const reported: Error[] = [];
    const heard: Uint8Array[] = [];
    pcm.onClose((reason) => reported.push(reason));
    pcm.onAudio((octets) => heard.push(octets));
    port.give(new Uint8Array(320));
    t.equal(heard.length, 1);
    pcm.write(new Uint8Array(320));
    port.waiting.shift()?.reject(new Error('EIO'));
    await turn();
    port.gone(new Error('EIO'));
    t.equal(reported.length, 1);
    await pcm.close();
    t.equal(port.closes, 1);
    await t.rejects(
      openSerialPcm(() => Promise.reject(new Error('ENOENT')), '/dev/ttyUSB1'),
      /ENOENT/,
    );
  },
);
