// Calls with a modem or a network that misbehaves: none stays up, each is recorded, and the next one works.
import t, { type Test } from 'tap';
import type { MakeName } from '#hardware-sim/makes/make.ts';
import { request } from '../../fixtures/network/json-request.ts';
import { startDaemonOnUsb } from '../../fixtures/nodes/daemon-on-usb.ts';
import { startMediaPlane } from '../../fixtures/nodes/media-plane.ts';
import { until } from '../../fixtures/until.ts';
import { type CallView, putFarEnd } from '../../hardware-sim/fixtures/call-terminal.ts';
import { post } from '../../hardware-sim/fixtures/http.ts';

const FAR = '+13105550188';
const TICKET = 't'.repeat(32);

async function setUp(t: Test, make: MakeName, options: object = {}) {
  const host = await startDaemonOnUsb(t, { modems: 1, makes: [make], ringIntervalMs: 500, ...options });
  const media = await startMediaPlane(t);
  const modem = host.modem(0);
  const { iccid, number } = await host.serves('1-1.1', modem);
  const { plane, simulator } = host;
  await putFarEnd(simulator.url, FAR, { audio: 'tone' });
  let dialled = 0;
  const dial = async () => {
    dialled += 1;
    const id = `call-0000000${dialled}`;
    // As the control plane numbers it.
    return { id, answer: await plane.command('dial', { call_id: id, iccid, to: FAR }, { id }) };
  };
  const attach = async (callId: string) => {
    await plane.command('open_media', { call_id: callId, base_url: media.url, ticket: TICKET });
    return until('a media link', () => media.links.at(-1));
  };
  const ended = (callId: string, timeoutMs = 20_000) =>
    until(
      'the end of the call',
      () => plane.factsOf('call_ended').find(({ call_id }) => call_id === callId),
      timeoutMs,
    );
  const hangUp = (callId: string) => plane.command('hang_up', { call_id: callId, reason: 'local_hangup' });
  const simulated = async () => (await request(`${simulator.url}/calls`)).body as CallView[];
  return {
    host,
    number: String(number),
    plane,
    dial,
    attach,
    ended,
    hangUp,
    simulated,
    fault: (fault: object) => post(`${simulator.url}/modems/${modem.identity.imei}/faults`, fault),
    /** The modem has come to what it was to play. */
    isPlayed: () =>
      until('the fault was played', async () => {
        const { body } = await request(`${simulator.url}/modems/${modem.identity.imei}`);
        return (body as { faults: unknown[] }).faults.length === 0;
      }),
    /** No call is up at the carrier. */
    isQuiet: (timeoutMs = 10_000) =>
      until(
        'the carrier has no call',
        async () => (await simulated()).every(({ state }) => state === 'ended'),
        timeoutMs,
      ),
    /** A whole call, as if nothing had been. */
    async talks() {
      const { id, answer } = await dial();
      t.match(
        answer,
        { type: 'result', result: { status: /ringing|active/ } },
        `the next call works: ${JSON.stringify(answer)}`,
      );
      const link = await attach(id);
      await until(
        'audio',
        () => link.captured.some(({ audio }) => audio.some((octet) => octet !== 0)),
        20_000,
      );
      await hangUp(id);
      await ended(id);
    },
  };
}

t.test('a dial command that is sent again dials no second call', async (t) => {
  const { dial, ended, hangUp, host, plane, simulated } = await setUp(t, 'quectel');
  const id = 'call-00000001';
  const again = { call_id: id, iccid: host.slots().get('1-1.1')?.iccid, to: FAR };
  await Promise.all([dial(), plane.command('dial', again, { id })]);
  await until(
    'both are answered',
    () => plane.framesOf('result').filter((each) => each.id === id).length === 2,
  );
  await hangUp(id);
  await ended(id);
  t.match(await plane.command('dial', again, { id }), { type: 'refusal', message: /tried before/ });
  t.equal((await simulated()).length, 1);
});

t.test('a call that the modem never dials is given up, when the client hangs up', async (t) => {
  const { dial, ended, fault, hangUp, host, isPlayed, plane, talks } = await setUp(t, 'quectel');
  await fault({ kind: 'dial_stuck', count: 1 });
  const dialling = dial();
  await until('dialling', () => plane.framesOf('call').some(({ call }) => call.state === 'dialing'));
  await isPlayed();
  t.match(
    await plane.command('dial', { call_id: 'call-second', iccid: host.slots().get('1-1.1')?.iccid, to: FAR }),
    { type: 'refusal', code: 'line_busy' },
  );
  t.match(await hangUp('call-00000001'), { type: 'result' });
  t.match((await dialling).answer, { result: { status: 'ended', reason: 'local_hangup' } });
  await ended('call-00000001');
  await talks();
});

for (const make of ['quectel', 'simcom', 'huawei', 'generic'] as const) {
  t.test(`${make}: an end without a line from the modem is found in the list`, async (t) => {
    const { dial, ended, fault, host, simulated } = await setUp(t, make);
    await fault({ kind: 'call_end_lost', count: 1 });
    const { id } = await dial();
    const active = () => host.plane.framesOf('call').some(({ call }) => call.state === 'active');
    await until('active', active, 20_000);
    const [call] = await simulated();
    await request(`${host.simulator.url}/calls/${call?.id}`, { method: 'DELETE' });
    t.match(await ended(id), { reason: 'remote_hangup' });
  });
}

t.test(
  'a hang-up without an answer, with an error, or without effect: the call ends all the same',
  async (t) => {
    const { dial, ended, fault, hangUp, isQuiet, host, talks } = await setUp(t, 'quectel');
    for (const trouble of [
      { answer: 'error', ends: true },
      { answer: 'error', ends: false },
    ]) {
      await fault({ kind: 'hangup_fails', ...trouble, count: 1 });
      const { id } = await dial();
      await hangUp(id);
      await ended(id);
      await isQuiet();
    }
    await fault({ kind: 'hangup_fails', answer: 'nothing', ends: false, count: 1 });
    const { id } = await dial();
    await hangUp(id).catch(() => undefined);
    await ended(id, 30_000);
    await isQuiet(60_000);
    await host.serves('1-1.1', host.modem(0), 60_000);
    await talks();
  },
);

t.test('lines before the OK, a data bearer in the list, a caller announced late', async (t) => {
  const { dial, ended, fault, hangUp, number, plane, host } = await setUp(t, 'simcom');
  await fault({ kind: 'connect_early', count: 1 });
  await fault({ kind: 'clcc_data_line' });
  const { id, answer } = await dial();
  t.match(answer, { result: { status: /ringing|active/ } });
  await until('active', () => plane.framesOf('call').some(({ call }) => call.state === 'active'));
  await hangUp(id);
  await ended(id);
  await fault({ kind: 'clip_late', count: 1 });
  await post(`${host.simulator.url}/calls`, { from: FAR, to: number });
  const call = await until('ringing', () =>
    plane.framesOf('call').find(({ call: { direction, peer } }) => direction === 'inbound' && peer === FAR),
  );
  await hangUp(call.call.call_id);
});

t.test('the modem goes in mid-call: the call is over, and the next one works', async (t) => {
  const { dial, ended, fault, host, isQuiet, plane, talks } = await setUp(t, 'quectel');
  const first = await dial();
  await fault({ kind: 'unplug', back_after_ms: 300 });
  t.match(await ended(first.id), { reason: 'modem_lost', cause: 41 });
  await isQuiet();
  await until('it is gone', () => plane.framesOf('slots').some(({ slots }) => slots[0]?.state === 'lost'));
  await host.serves('1-1.1', host.modem(0), 60_000);
  await talks();
});

t.test('audio that needs another attempt: the modem is restarted after the call', async (t) => {
  const { attach, dial, ended, fault, hangUp, host, talks } = await setUp(t, 'simcom', { bootMs: 500 });
  await talks();
  await fault({ kind: 'second_call_silent' });
  const { id } = await dial();
  const link = await attach(id);
  await until('active', () =>
    host.plane.framesOf('call').some(({ call }) => call.call_id === id && call.state === 'active'),
  );
  await until('audio, at the second attempt', () => link.captured.length > 0, 20_000);
  const reported = host.plane.framesOf('slots').length;
  await hangUp(id);
  await ended(id);
  const restarts = () =>
    host.plane
      .framesOf('slots')
      .slice(reported)
      .some(({ slots }) => slots[0]?.state !== 'registered');
  await until('the restart', restarts, 30_000);
  await host.serves('1-1.1', host.modem(0), 60_000);
});

t.test('the control plane dies with the stream: the call ends after the time of the service', async (t) => {
  const { plane, dial, attach, ended, isQuiet } = await setUp(t, 'generic');
  const { id } = await dial();
  const link = await attach(id);
  await until('it is active', () => plane.framesOf('call').some(({ call }) => call.state === 'active'));
  const diedAt = Date.now();
  plane.refuse(503);
  link.end();
  plane.socket?.terminate();
  await isQuiet(15_000);
  const heldMs = Date.now() - diedAt;
  t.ok(heldMs >= plane.streamHoldMs - 1_000 && heldMs < plane.streamHoldMs + 4_000, `${heldMs} ms`);
  plane.refusal = undefined;
  t.match(await ended(id, 60_000), { reason: 'abandoned' });
});
