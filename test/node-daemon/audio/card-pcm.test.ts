// The daemon's arecord and aplay on the card of a simulated modem: one that stands still, and what they complain of.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { openCardPcm } from '#node-daemon/audio/card-pcm.ts';
import { systemClock } from '#shared/clock.ts';
import { skipWithout } from '../../fixtures/foreign-program.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';
import { until } from '../../fixtures/until.ts';
import { putFarEnd } from '../../hardware-sim/fixtures/call-terminal.ts';
import { startModem } from '../../hardware-sim/fixtures/rack.ts';

const FAR = '+15550001111';
const FRAME_OCTETS = 320;
const skip = skipWithout('arecord', '--version');

/** A call on a card: its audio, and what has come of it. */
async function openedCard(t: Test) {
  const { rack, terminal } = await startModem(t, { usbAudio: true });
  await putFarEnd(rack.url, FAR, { audio: 'tone' });
  await terminal.command('AT+QINDCFG="ccinfo",1,0');
  await terminal.command(`AT+QPCMV=1,2;D${FAR};`);
  await terminal.expect('"ccinfo",1,0,0');
  process.env['ALSA_CONFIG_PATH'] = `/usr/share/alsa/alsa.conf:${rack.dir}/asound.conf`;
  const device = await openCardPcm({ device: 'hw:CARD=Android,DEV=0', rateHz: 8_000, clock: systemClock });
  t.teardown(() => device.close());
  let octets = 0;
  device.onAudio((some) => {
    octets += some.length;
  });
  return { device, octets: () => octets };
}

/** The process of a name that this one has started. */
function childCalled(name: string): number {
  const pid = readdirSync('/proc').find((entry) => {
    try {
      const [, program, parent] =
        /^\d+ \((.*)\) \S (\d+)/.exec(readFileSync(`/proc/${entry}/stat`, 'latin1')) ?? [];
      return program === name && Number(parent) === process.pid;
    } catch {
      return false;
    }
  });
  if (pid === undefined) throw new Error(`${name} does not run`);
  return Number(pid);
}

t.test(
  'an aplay that stands still is given a few frames and no more, and is heard at once when it goes on',
  {
    skip,
  },
  async (t) => {
    const { device, octets } = await openedCard(t);
    await until('audio', () => octets() > 10 * FRAME_OCTETS);
    const player = childCalled('aplay');
    process.kill(player, 'SIGSTOP');
    t.teardown(() => process.kill(player, 'SIGCONT'));
    const frame = new Uint8Array(FRAME_OCTETS);
    let taken = 0;
    let last = octets();
    // At the pace of the card, as in a call.
    await until('it takes no more', () => {
      if (octets() - last < FRAME_OCTETS) return false;
      last += FRAME_OCTETS;
      if (!device.write(frame)) return true;
      taken += 1;
      return false;
    });
    t.ok(taken <= 4, `${taken} frames wait`);
    process.kill(player, 'SIGCONT');
    await until('it takes one again', () => device.write(frame));
  },
);

/** Puts a folder with programs before those of the host. */
function putPrograms(t: Test, scripts: Readonly<Record<string, string>>): void {
  const folder = temporaryFolder(t);
  for (const [name, script] of Object.entries(scripts))
    writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  const path = process.env['PATH'];
  process.env['PATH'] = `${folder}:${path}`;
  t.teardown(() => {
    process.env['PATH'] = path;
  });
}

t.test('losses of the card are counted, from the messages of arecord and aplay', { skip }, async (t) => {
  // As aplay.c of alsa-utils has it; a card without a clock makes none.
  const script = (program: string, word: string): string => {
    const real = execFileSync('which', [program], { encoding: 'utf8' }).trim();
    return `echo '${word}!!! (at least 12.345 ms long)' >&2\nexec ${real} "$@"`;
  };
  putPrograms(t, { arecord: script('arecord', 'overrun'), aplay: script('aplay', 'underrun') });
  const { device, octets } = await openedCard(t);
  await until('both are reported', () => device.xruns === 2);
  await until('audio', () => octets() > FRAME_OCTETS);
});

for (const [refused, other] of [
  ['arecord', 'aplay'],
  ['aplay', 'arecord'],
] as const)
  t.test(`a card that refuses ${refused} is not opened, and ${other} is stopped`, async (t) => {
    putPrograms(t, {
      [refused]: "echo 'audio open error: Device or resource busy' >&2; exit 1",
      [other]: 'exec sleep 60',
    });
    await t.rejects(openCardPcm({ device: 'hw:CARD=EC25,DEV=0', rateHz: 8_000, clock: systemClock }), {
      message: new RegExp(`^${refused} exited \\(1\\)`),
    });
    for (const name of [other, 'sleep'])
      t.throws(() => childCalled(name), { message: `${name} does not run` });
  });
