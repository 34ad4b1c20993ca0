// Calls of every make: the real daemon on the simulator's USB tree, dialed, rung, heard and hung up.
import t, { type Test } from 'tap';
import { Tone } from '#hardware-sim/audio/tone.ts';
import type { MakeName } from '#hardware-sim/makes/make.ts';
import { request } from '../../fixtures/network/json-request.ts';
import { startDaemonOnUsb } from '../../fixtures/nodes/daemon-on-usb.ts';
import { startMediaPlane } from '../../fixtures/nodes/media-plane.ts';
import { until } from '../../fixtures/until.ts';
import { type CallView, callOf, FarEndClient, putFarEnd } from '../../hardware-sim/fixtures/call-terminal.ts';
import { post } from '../../hardware-sim/fixtures/http.ts';
import { type Measured, medianTone } from '../../hardware-sim/fixtures/tone-meter.ts';

const FAR = '+13105550188';
const MAKES: MakeName[] = ['quectel', 'simcom', 'huawei'];
const TICKET = 't'.repeat(32);

async function setUp(t: Test, make: MakeName, options: object = {}) {
  const host = await startDaemonOnUsb(t, { modems: 1, makes: [make], ringIntervalMs: 500, ...options });
  const media = await startMediaPlane(t);
  const modem = host.modem(0);
  const { iccid, number } = await host.serves('1-1.1', modem);
  const { plane, simulator } = host;
  const live = () => plane.framesOf('call').map(({ call }) => call);
  return {
    host,
    iccid,
    live,
    media,
    modem,
    number: String(number),
    plane,
    simulator,
    states: () => live().map(({ state }) => state),
    dial: (callId: string, to = FAR) => plane.command('dial', { call_id: callId, iccid, to }),
    ended: (callId: string) =>
      until(
        'the end of the call',
        () => plane.factsOf('call_ended').find(({ call_id }) => call_id === callId),
        20_000,
      ),
    /** The call that rings. */
    rings: (from = 0) =>
      until('a ringing call', () =>
        live()
          .slice(from)
          .find(({ state }) => state === 'ringing'),
      ),
    attach: async (callId: string) => {
      const answer = await plane.command('open_media', {
        call_id: callId,
        base_url: media.url,
        ticket: TICKET,
      });
      t.match(answer, { type: 'result', result: {} });
      return until('a media link', () => media.links.at(-1));
    },
  };
}

async function lastCall(url: string): Promise<CallView> {
  return ((await request(`${url}/calls`)).body as CallView[]).at(-1) as CallView;
}

/** The far end calls the modem. */
async function ring(url: string, to: string): Promise<number> {
  const { body } = await post(`${url}/calls`, { from: FAR, to });
  return (body as { id: number }).id;
}

/** The tone of 1 kHz. After a stall of this machine the daemon's buffer makes each frame a sample longer or shorter for a while. */
function asStretched(samples: Int16Array): Measured {
  const [exact, ...stretched] = [320, 319, 321].map((length) =>
    medianTone(samples, (1000 * length) / 320, 16_000),
  );
  return stretched.reduce((best, other) => (other.sinadDb > best.sinadDb ? other : best), exact as Measured);
}

for (const make of MAKES) {
  t.test(`${make}: dials, is answered, talks and hangs up`, async (t) => {
    const { attach, dial, ended, iccid, live, plane, simulator } = await setUp(t, make);
    await putFarEnd(simulator.url, FAR, { audio: 'tone', tone_hz: 1000, level_dbfs: -12, after_ms: 300 });
    const dialled = await dial('call-00000001');
    t.match(dialled, { type: 'result' });
    const link = await attach('call-00000001');
    t.equal(link.authorization, `SimrackMedia ${TICKET}`);
    const tone = new Tone(1000, -20, 16_000);
    link.source = () => tone.next(320);
    await until('two seconds of audio', () => link.captured.length > 120, 20_000);
    t.same(live().at(-1), {
      call_id: 'call-00000001',
      iccid,
      direction: 'outbound',
      state: 'active',
      peer: FAR,
      started_at: live()[0]?.started_at,
      answered_at: live().at(-1)?.answered_at,
      has_media: true,
    });
    const simCall = await lastCall(simulator.url);
    const far = await FarEndClient.open(t, simulator.url, simCall.id);
    const up = asStretched(await far.hear(16_000, 4800));
    t.ok(Math.abs(up.levelDbfs + 20) < 0.5, `to the far end: ${up.levelDbfs} dBFS`);
    t.ok(up.sinadDb > 40, `to the far end: SINAD ${up.sinadDb} dB`);
    const down = medianTone(link.heard(60), 1000, 16_000);
    t.ok(Math.abs(down.levelDbfs + 12) < 0.5, `from the far end: ${down.levelDbfs} dBFS`);
    t.ok(down.sinadDb > 40, `from the far end: SINAD ${down.sinadDb} dB`);
    t.match(await plane.command('hang_up', { call_id: 'call-00000001', reason: 'local_hangup' }), {
      type: 'result',
      result: {},
    });
    const fact = await ended('call-00000001');
    t.match(fact, { direction: 'outbound', peer: FAR, reason: 'local_hangup', cause: 16 });
    t.ok(fact.answered_at);
    t.ok((fact.audio?.captured_frames ?? 0) > 100);
    t.equal((await callOf(simulator.url, simCall.id)).state, 'ended');
    await until('the media link is closed', () => link.closeCode === 4016);
  });

  t.test(`${make}: rings, is answered, and the far end hangs up`, async (t) => {
    const { attach, ended, number, plane, rings, simulator, states } = await setUp(t, make);
    const id = await ring(simulator.url, number);
    const call = await rings();
    t.match(call, { direction: 'inbound', peer: FAR, answered_at: null });
    t.match(await plane.command('answer', { call_id: call.call_id }), { type: 'result' });
    await until('active', () => states().includes('active'));
    const link = await attach(call.call_id);
    await until('audio', () => link.captured.length > 20);
    await request(`${simulator.url}/calls/${id}?cause=16`, { method: 'DELETE' });
    t.match(await ended(call.call_id), { reason: 'remote_hangup', cause: 16 });
    await until('the media link is closed', () => link.closeCode === 4016);
  });

  t.test(`${make}: a caller who hides, gives up, or is rejected`, async (t) => {
    const { ended, live, number, plane, rings, simulator } = await setUp(t, make);
    await post(`${simulator.url}/calls`, { from: null, to: number, ring_ms: 700 });
    const hidden = await rings();
    t.equal(hidden.peer, null);
    t.match(await ended(hidden.call_id), { reason: 'cancelled', answered_at: null, audio: null });
    const before = live().length;
    const id = await ring(simulator.url, number);
    const unwanted = await rings(before);
    t.match(await plane.command('hang_up', { call_id: unwanted.call_id, reason: 'local_hangup' }), {
      type: 'result',
    });
    t.match(await ended(unwanted.call_id), { reason: 'rejected' });
    t.match(await callOf(simulator.url, id), { state: 'ended', cause: 21 });
  });

  t.test(`${make}: busy, rejected, no answer, no network`, async (t) => {
    const { dial, ended, simulator } = await setUp(t, make);
    for (const [index, [farEnd, result]] of (
      [
        [{ answer: 'busy' }, { reason: 'busy', cause: 17 }],
        [{ answer: 'reject' }, { reason: 'rejected', cause: 21 }],
        [{ answer: 'no_answer', no_answer_ms: 100, cause: 18 }, undefined],
      ] as const
    ).entries()) {
      await putFarEnd(simulator.url, FAR, farEnd);
      const id = `call-0000010${index}`;
      const answer = await dial(id);
      if (result !== undefined) t.match(answer, { type: 'result', result: { status: 'ended', ...result } });
      t.match(await ended(id), result ?? { reason: 'no_answer' });
    }
  });
}
