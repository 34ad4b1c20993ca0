// A restart for an operator and the removal of a slot wait for the message that is being sent. Calls that begin meanwhile are not lost.
import t, { type Test } from 'tap';
import { loadResampler } from '#shared/voice/resample.ts';
import { PARAMS, PDU } from '../../fixtures/nodes/scripted-outbox.ts';
import { lines, ScriptedModem } from '../../fixtures/nodes/scripted-port.ts';
import { until } from '../../fixtures/until.ts';
import { reaches, ScriptedHost } from './scripted-host.ts';

const TO = '+13105550188';
const createResampler = await loadResampler();

/** A modem in service with calls, which has a message and does not answer yet. */
async function sending(t: Test) {
  const host = await ScriptedHost.start(t);
  const device = new ScriptedModem();
  let calls: string[] = [];
  host.plug('/dev/m0', () =>
    device
      .plug()
      .on(/^AT\+CLCC$/, () => lines(...calls, 'OK'))
      .on(/^AT\+CHUP$/, () => {
        calls = [];
        return lines('OK');
      })
      .on(/^ATD/, () => {
        calls = [`+CLCC: 1,0,3,0,0,"${TO}",145`];
        return lines('OK');
      })
      .on(PDU, () => undefined),
  );
  const modem = host.create({
    slot: 'm0',
    place: { ports: ['/dev/m0'] },
    telephonyAt: () => ({
      createResampler,
      calls: { newId: () => 'call-in', note: () => undefined, end: () => undefined },
      audioAccess: () => undefined,
    }),
  });
  modem.start();
  await reaches(modem, 'registered');
  await until('the outbox', () => modem.outbox !== undefined);
  const send = (commandId: string) =>
    modem.outbox?.send({ commandId, params: PARAMS, deadlineAt: host.clock.now() + 60_000 });
  const sent = send('c1');
  await until('the message', () => device.port.count(PDU) === 1);
  const { port } = device;
  const finish = (): void => {
    port.on(PDU, lines('+CMGS: 8', 'OK')).say(lines('+CMGS: 7', 'OK'));
  };
  return { device, finish, modem, port, send, sent };
}

t.test('a call that is dialed while a restart waits is kept, and the restart is refused', async (t) => {
  const { device, finish, modem, port, send, sent } = await sending(t);
  const restart = modem.restart({ force: false });
  const dialed = modem.telephone?.dial('call-out', TO);
  const next = send('c2');
  finish();
  await t.rejects(restart, { code: 'line_busy' });
  t.match(await sent, { status: 'accepted' });
  t.match(await dialed, { status: 'ringing' });
  t.match(await next, { status: 'accepted' }, 'messages are sent again');
  t.equal(device.port, port, 'the session goes on');
  await modem.telephone?.hangUp('local_hangup');
  await modem.restart({ force: false });
  await until('the restart', () => device.port !== port && device.port.count(/^AT\+CFUN=1,1$/) === 1);
});

t.test('a forced restart ends a call that begins during its wait', async (t) => {
  const { device, finish, modem, port } = await sending(t);
  const restart = modem.restart({ force: true });
  const dialed = modem.telephone?.dial('call-out', TO);
  finish();
  await restart;
  t.match(await dialed, { status: 'ended' });
  await until('the restart', () => device.port !== port && device.port.count(/^AT\+CFUN=1,1$/) === 1);
});

t.test('a modem that is being removed refuses calls while it waits for the message', async (t) => {
  const { finish, modem, port, sent } = await sending(t);
  const stopped = modem.stop();
  const dialed = modem.telephone?.dial('call-out', TO);
  const refused = t.rejects(async () => void (await dialed), { code: 'slot_unavailable' });
  port.say(lines('RING', `+CLIP: "${TO}",145`));
  const answered = modem.telephone?.answer() ?? Promise.resolve();
  await Promise.all([refused, t.rejects(answered, { code: 'slot_unavailable' })]);
  finish();
  await stopped;
  t.match(await sent, { status: 'accepted' });
  t.equal(port.count(/^ATD/) + port.count(/^ATA$/), 0);
});
