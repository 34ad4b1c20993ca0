// Modems whose audio stalls, shifts, falls silent or has another rate: the call goes on, its record says so, the next is clean.
import t, { type Test } from 'tap';
import { Tone } from '#hardware-sim/audio/tone.ts';
import type { MakeName } from '#hardware-sim/makes/make.ts';
import type { CallEnded } from '#shared/voice/call.ts';
import { request } from '../../fixtures/network/json-request.ts';
import { startDaemonOnUsb } from '../../fixtures/nodes/daemon-on-usb.ts';
import { type MediaEndpoint, startMediaPlane } from '../../fixtures/nodes/media-plane.ts';
import { undisturbed } from '../../fixtures/undisturbed.ts';
import { until } from '../../fixtures/until.ts';
import { putFarEnd } from '../../hardware-sim/fixtures/call-terminal.ts';
import { post } from '../../hardware-sim/fixtures/http.ts';
import { medianTone } from '../../hardware-sim/fixtures/tone-meter.ts';

const FAR = '+13105550188';

async function setUp(t: Test, make: MakeName, { slot = '1-1.1', config = '' } = {}) {
  const host = await startDaemonOnUsb(t, { modems: 1, makes: [make], config });
  const media = await startMediaPlane(t);
  const modem = host.modem(0);
  const { iccid } = await host.serves(slot, modem);
  const { plane, simulator } = host;
  await putFarEnd(simulator.url, FAR, { audio: 'tone', tone_hz: 1000, level_dbfs: -12 });
  const faults = `${simulator.url}/modems/${modem.identity.imei}/faults`;
  let calls = 0;
  /** A call in which the client talks; `during` happens once it is heard. Returns the call's record. */
  async function call(during: (link: MediaEndpoint) => Promise<unknown>): Promise<CallEnded['audio']> {
    calls += 1;
    const id = `call-0000000${calls}`;
    await plane.command('dial', { call_id: id, iccid, to: FAR });
    await plane.command('open_media', { call_id: id, base_url: media.url, ticket: 't'.repeat(32) });
    const link = await until('a media link', () => media.links[calls - 1]);
    const tone = new Tone(500, -20, 16_000);
    link.source = () => tone.next(320);
    await until('audio', () => link.captured.some(isLoud), 20_000);
    await during(link);
    await plane.command('hang_up', { call_id: id, reason: 'local_hangup' });
    const isIt = ({ call_id: callId }: { call_id: string }) => callId === id;
    return (await until('the record', () => plane.factsOf('call_ended').find(isIt))).audio;
  }
  return {
    call,
    fault: async (fault: object) => t.equal((await post(faults, fault)).status, 200, JSON.stringify(fault)),
    heal: () => request(faults, { method: 'DELETE' }),
    isClean: async (t: Test, link: MediaEndpoint) => {
      const { sinadDb, levelDbfs } = await freshTone(link);
      t.ok(sinadDb > 40 && Math.abs(levelDbfs + 12) < 0.5, `SINAD ${sinadDb} dB, ${levelDbfs} dBFS`);
    },
  };
}

const isLoud = ({ audio }: { audio: Uint8Array }): boolean => audio.some((octet) => octet !== 0);

/** That many more frames than now. */
async function more(link: MediaEndpoint, frames: number): Promise<number> {
  const from = link.captured.length;
  await until(`${frames} frames`, () => link.captured.length >= from + frames, 20_000);
  return from;
}

async function freshTone(link: MediaEndpoint) {
  return medianTone(link.heard(await more(link, 40)), 1000, 16_000);
}

const isWhole = (audio: CallEnded['audio']): boolean => audio?.capture_gaps === 0;
/** No counter of the call shows that the machine stalled. */
const isClear = (audio: CallEnded['audio']): boolean =>
  isWhole(audio) && audio?.late_frames === 0 && audio.dropped_frames === 0 && audio.lost_frames === 0;

t.test('Quectel: a stall, a lost octet, one way only, NMEA, jitter', async (t) => {
  const { call, fault, heal, isClean } = await setUp(t, 'quectel');
  const usual = await undisturbed(() => call((link) => isClean(t, link)), isClear);
  t.match(usual, { capture_gaps: 0, late_frames: 0, dropped_frames: 0, lost_frames: 0 });
  const stalled = await call(async (link) => {
    await isClean(t, link);
    await fault({ kind: 'pcm_stall', direction: 'to_host', duration_ms: 500 });
    await more(link, 40);
    await isClean(t, link);
  });
  t.ok((stalled?.capture_gaps ?? 0) >= 1, `a stall is logged: ${JSON.stringify(stalled)}`);
  const full = await undisturbed(
    () =>
      call(async (link) => {
        await fault({ kind: 'pcm_stall', direction: 'from_host', duration_ms: 1_500 });
        await more(link, 100);
        const { sent } = link;
        await more(link, 25);
        t.ok(link.sent - sent >= 20, 'the modem takes frames again, and the client may send them');
        await isClean(t, link);
      }),
    isWhole,
  );
  t.ok((full?.captured_frames ?? 0) > 125, `heard: ${JSON.stringify(full)}`);
  t.equal(full?.capture_gaps, 0, 'all the time');
  await call(async (link) => {
    await fault({ kind: 'one_way_audio', silent: 'to_host' });
    await until('silence', () => !isLoud(link.captured.at(-1) ?? { audio: new Uint8Array(1) }));
    const from = await more(link, 20);
    t.equal(link.captured.slice(from).some(isLoud), false, 'frames without a sound');
    await heal();
    await until('sound', () => link.captured.slice(-1).some(isLoud));
    await isClean(t, link);
  });
  await call(async (link) => {
    await fault({ kind: 'nmea_in_pcm', every_ms: 40 });
    await isClean(t, link);
    await heal();
  });
  const shifted = await call(async (link) => {
    await fault({ kind: 'pcm_byte_shift', direction: 'to_host', count: 1 });
    await more(link, 50);
  });
  t.ok((shifted?.captured_frames ?? 0) >= 50, 'a shift ends nothing');
  await call((link) => isClean(t, link));
  // The last one: the modem is restarted after it.
  await fault({ kind: 'pcm_refused', count: 1 });
  await call((link) => isClean(t, link));
});

t.test('an unknown make: its audio is at the port that the operator named', async (t) => {
  const config =
    'discover: false\nslots:\n  - { name: shelf, port: %DIR%/m0-at, audio_port: %DIR%/m0-pcm }\n';
  const { call, isClean } = await setUp(t, 'generic', { slot: 'shelf', config });
  await call((link) => isClean(t, link));
  await call((link) => isClean(t, link));
});

t.test('SIMCom: 16 kHz where 8 kHz were set, and the next call at 8 kHz', async (t) => {
  const { call, fault, heal, isClean } = await setUp(t, 'simcom');
  await fault({ kind: 'wrong_rate', sample_rate_hz: 16_000 });
  const wrong = await call((link) => isClean(t, link));
  t.equal(wrong?.dropped_frames, 0);
  await heal();
  await call((link) => isClean(t, link));
});
