// The sound card of a modem as programs see it: in the USB tree, and with the real arecord and aplay.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { bytesOf, samplesOf } from '#hardware-sim/audio/frame.ts';
import { Tone } from '#hardware-sim/audio/tone.ts';
import type { Simulator } from '#hardware-sim/simulator.ts';
import { skipWithout } from '../../fixtures/foreign-program.ts';
import { until } from '../../fixtures/until.ts';
import { callOf, FarEndClient, putFarEnd } from '../fixtures/call-terminal.ts';
import { post } from '../fixtures/http.ts';
import { quietTerminal, startModem } from '../fixtures/rack.ts';
import { measureTone } from '../fixtures/tone-meter.ts';

const FAR = '+15550001111';
const skip = skipWithout('arecord', '--version');
/** The arguments that a program must give: the modem's rate, one channel, and periods of one frame. */
const FORMAT = ['-q', '-f', 'S16_LE', '-c', '1', '-t', 'raw', '--fatal-errors'];
const AT_8_KHZ = [...FORMAT, '-r', '8000', '--period-size=160', '--buffer-size=320'];

function start(
  t: Test,
  rack: Simulator,
  program: 'arecord' | 'aplay',
  args: readonly string[],
): ChildProcess {
  const child = spawn(program, [...args, '-'], {
    env: { ...process.env, ALSA_CONFIG_PATH: `/usr/share/alsa/alsa.conf:${rack.dir}/asound.conf` },
  });
  t.teardown(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
  return child;
}

/** Waits for that many octets on the standard output. */
async function recorded(child: ChildProcess, bytes: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of child.stdout as AsyncIterable<Buffer>) {
    parts.push(part);
    length += part.length;
    if (length >= bytes) break;
  }
  return Buffer.concat(parts).subarray(0, bytes);
}

t.test('a card is in the tree when the modem says so, and not before', async (t) => {
  const { rack, modem, terminal } = await startModem(t, { bootMs: 0 });
  const folder = (name: string): string => join(rack.dir, 'sys/bus/usb/devices', name);
  t.notOk(existsSync(folder('1-1.1:1.5')));
  t.match(await terminal.command('AT+CMEE=1;+QPCMV=1,2'), '+CME ERROR: 3');
  t.match(await terminal.command('AT+QCFG="USBCFG"'), '+QCFG: "usbcfg",0x2C7C,0x0125,1,1,1,1,1,0,0');
  await terminal.command('AT+QCFG="USBCFG",0x2C7C,0x0125,1,1,1,1,1,0,1');
  await terminal.command('AT+CFUN=1,1');
  await terminal.expectHangUp();
  await until('the card', () => existsSync(folder('1-1.1:1.5/sound/card0')));
  const card = folder('1-1.1:1.5/sound/card0');
  t.equal(readFileSync(join(card, 'id'), 'utf8'), 'Android\n');
  t.equal(readFileSync(join(card, 'number'), 'utf8'), '0\n');
  t.same(readdirSync(card).sort(), ['id', 'number', 'pcmC0D0c', 'pcmC0D0p']);
  t.equal(readFileSync(folder('1-1.1:1.5/bInterfaceClass'), 'utf8'), '01\n');
  await until('ports', () => existsSync(modem.portPaths.at));
  const again = await quietTerminal(t, modem.portPaths.at);
  t.match(await again.command('AT+QPCMV=1,2;+QPCMV?'), /\+QPCMV: 1,2\r\n/);
});

t.test('cards that are called alike are numbered, and go with their modem', async (t) => {
  const { rack } = await startModem(t, { usbAudio: true, modems: 3 });
  const cards = async (): Promise<unknown[]> => {
    const views = (await (await fetch(`${rack.url}/modems`)).json()) as { sound_card: unknown }[];
    return views.map((view) => view.sound_card);
  };
  t.same(await cards(), [
    { number: 0, id: 'Android' },
    { number: 1, id: 'Android_1' },
    { number: 2, id: 'Android_2' },
  ]);
  await post(`${rack.url}/modems/m1/power`, { action: 'off' });
  t.same(readdirSync(join(rack.dir, 'alsa')).sort(), [
    '0.capture',
    '0.playback',
    '2.capture',
    '2.playback',
    'Android.capture',
    'Android.playback',
    'Android_2.capture',
    'Android_2.playback',
  ]);
});

t.test('a modem whose card cannot be made leaves nothing open', async (t) => {
  const { rack, modem } = await startModem(t, { usbAudio: true, modems: 1 });
  const power = async (action: 'on' | 'off') =>
    (await post(`${rack.url}/modems/m0/power`, { action })).status;
  const pipes = join(rack.dir, 'alsa');
  const openPipes = (): string[] =>
    readdirSync('/proc/self/fd')
      .map((file) => {
        try {
          return readlinkSync(`/proc/self/fd/${file}`);
        } catch {
          return '';
        }
      })
      .filter((path) => path.startsWith(pipes));
  t.equal(openPipes().length, 2);
  const on = await power('on');
  await power('off');
  // In the place of the second pipe.
  mkdirSync(join(pipes, 'Android.playback'));
  t.equal(await power('on'), 500);
  t.equal(modem.power.state, 'absent');
  t.notOk(existsSync(modem.portPaths.at), 'no terminal');
  t.same(openPipes(), []);
  t.same(readdirSync(pipes), ['Android.playback']);
  rmdirSync(join(pipes, 'Android.playback'));
  t.equal(await power('on'), on);
  t.ok(existsSync(modem.portPaths.at));
  t.equal(openPipes().length, 2);
});

t.test('arecord and aplay have the voice of a call, as clean as it is', { skip }, async (t) => {
  const { rack, terminal } = await startModem(t, { usbAudio: true });
  await putFarEnd(rack.url, FAR, { audio: 'tone', tone_hz: 1000, level_dbfs: -12 });
  await terminal.command('AT+QINDCFG="ccinfo",1,0');
  await terminal.command(`AT+QPCMV=1,2;D${FAR};`);
  await terminal.expect('"ccinfo",1,0,0');
  const far = await FarEndClient.open(t, rack.url, 1);
  const device = ['-D', 'hw:CARD=Android,DEV=0'];
  const heard = recorded(start(t, rack, 'arecord', [...device, ...AT_8_KHZ]), 16_000);
  const player = start(t, rack, 'aplay', ['-D', 'hw:0,0', ...AT_8_KHZ]);
  player.stdin?.write(bytesOf(new Tone(500, -6, 8000).next(24_000)));

  const received = measureTone(samplesOf(await heard).slice(2000), 1000, 8000);
  t.ok(Math.abs(received.levelDbfs + 12) < 0.5, `level ${received.levelDbfs}`);
  t.ok(received.sinadDb > 40, `SINAD ${received.sinadDb}`);
  await until('the tone at the far end', async () => {
    const isHeard = (await far.hear(320)).some((sample) => sample !== 0);
    if (!isHeard) far.forget();
    return isHeard;
  });
  const played = measureTone((await far.hear(16_000)).slice(3200), 500, 16_000);
  t.ok(Math.abs(played.levelDbfs + 6) < 0.5, `level ${played.levelDbfs}`);
  t.ok(played.sinadDb > 40, `SINAD ${played.sinadDb}`);
  const { audio } = (await callOf(rack.url, 1)).origin;
  t.match(audio, { route: 'usb', sample_rate_hz: 8000, bytes_dropped: 0 });
});

/** Whether a program has the pipe of a card open. */
function usesCard({ pid }: ChildProcess): boolean {
  const files = `/proc/${pid}/fd`;
  try {
    return readdirSync(files).some((file) => /\.(capture|playback)$/.test(readlinkSync(join(files, file))));
  } catch {
    // It has closed a file meanwhile.
    return false;
  }
}

t.test('a card that is pulled out ends its users, and cannot be opened', { skip }, async (t) => {
  const { rack, modem, terminal } = await startModem(t, { usbAudio: true });
  await terminal.command('AT+QINDCFG="ccinfo",1,0');
  await terminal.command(`AT+QPCMV=1,2;D${FAR};`);
  await terminal.expect('"ccinfo",1,0,0');
  const device = ['-D', 'hw:CARD=Android,DEV=0', ...AT_8_KHZ];
  const recorder = start(t, rack, 'arecord', device);
  const player = start(t, rack, 'aplay', device);
  const exits = [once(recorder, 'exit'), once(player, 'exit')];
  player.stdin?.on('error', () => undefined);
  player.stdin?.write(Buffer.alloc(64_000));
  recorder.stdout?.resume();
  await until('both have the card open', () => usesCard(recorder) && usesCard(player));
  modem.power.unplug();
  const [[recorderCode], [playerCode]] = (await Promise.all(exits)) as [[unknown], [unknown]];
  t.not(recorderCode, 0);
  t.not(playerCode, 0);
  const late = start(t, rack, 'arecord', device);
  const [code] = (await once(late, 'exit')) as [number];
  t.equal(code, 1);
});
