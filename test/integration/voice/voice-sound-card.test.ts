// Audio of a modem that is a sound card: the real arecord and aplay of the daemon, and the card that goes in mid-call.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import t from 'tap';
import { SAMPLE_RATE_HZ, samplesOf } from '#shared/voice/media.ts';
import { measureTone, tone } from '../../fixtures/audio/tone.ts';
import { request } from '../../fixtures/network/json-request.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { voiceStack } from '../../fixtures/stacks/voice-stack.ts';
import { until } from '../../fixtures/until.ts';
import { callOf, putFarEnd } from '../../hardware-sim/fixtures/call-terminal.ts';
import { post } from '../../hardware-sim/fixtures/http.ts';

const FAR = '+13105550188';

function hasAlsa(): boolean {
  try {
    execFileSync('arecord', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

if (!hasAlsa()) t.pass('arecord is not installed: the sound card is not tested', { skip: true });
else {
  const rig = await createRig();

  t.test('a tone to the far end and its echo back, through arecord and aplay', async (t) => {
    const { people, simulator } = await voiceStack(t, rig, { makes: ['quectel'], usbAudio: true });
    process.env['ALSA_CONFIG_PATH'] = `/usr/share/alsa/alsa.conf:${join(simulator.dir, 'asound.conf')}`;
    const [alice] = people;
    if (alice === undefined) throw new Error('no Alice');
    await putFarEnd(simulator.url, FAR, { audio: 'echo', delay_ms: 200 });
    const { body } = await alice.dial(FAR, alice.number);
    const client = await alice.stream(String(body['call_id']));
    await until('audio', () => client.binary.length > 20, 20_000);
    const sound = tone({ hz: 1000, rateHz: SAMPLE_RATE_HZ, seconds: 3 });
    client.socket.send(Buffer.from(sound.buffer).subarray(0, 48_000));
    client.socket.send(Buffer.from(sound.buffer).subarray(48_000));
    const before = client.binary.length;
    await until('the echo', () => client.binary.length > before + 200, 20_000);
    const heard = samplesOf(Buffer.concat(client.binary.slice(before)));
    const windows = Array.from({ length: 30 }, (_, index) =>
      heard.subarray(index * 1_600 + SAMPLE_RATE_HZ / 2, (index + 1) * 1_600 + SAMPLE_RATE_HZ / 2),
    );
    const measured = windows.map((window) => measureTone(window, { hz: 1000, rateHz: SAMPLE_RATE_HZ }));
    const middle = measured.sort((a, b) => a.sinadDb - b.sinadDb)[15];
    t.ok((middle?.sinadDb ?? 0) > 40, `SINAD ${middle?.sinadDb.toFixed(1)} dB`);
    t.ok(Math.abs(middle?.levelDb ?? 99) < 0.5, `level ${middle?.levelDb.toFixed(2)} dB`);
    const calls = (await request(`${simulator.url}/calls`)).body as { id: number }[];
    const { origin } = await callOf(simulator.url, calls.at(-1)?.id ?? 0);
    t.match(origin.audio, { route: 'usb' });
    await post(`${simulator.url}/modems/${alice.modem.identity.imei}/faults`, {
      kind: 'unplug',
      back_after_ms: 500,
    });
    t.equal(await client.closed(), 4041, 'the modem was unplugged');
    const record = await until('a record', async () =>
      (await alice.calls()).find((call) => call['ended_at'] !== null),
    );
    t.match(record, { reason: 'modem_lost', cause: 41 });
  });
}
