// A modem whose audio works again only after a restart: it is restarted between calls and between messages.
import t, { type Test } from 'tap';
import { loadResampler } from '#shared/voice/resample.ts';
import { lines, TEST_ICCID } from '../../fixtures/nodes/scripted-port.ts';
import { until } from '../../fixtures/until.ts';
import { FakePcm } from '../audio/fake-pcm.ts';
import { SessionRig } from './session-rig.ts';

const TO = '+13105550188';
const RESTART = /^AT\+CFUN=1,1$/;
const createResampler = await loadResampler();

/** A SIM in service, with a call on audio that needed a second attempt. */
async function degraded(t: Test) {
  const rig = await SessionRig.create(t);
  let calls: string[] = [];
  let isRefused = true;
  let letClose: () => void = () => undefined;
  const closing = new Promise<void>((resolve) => {
    letClose = resolve;
  });
  const ends: string[] = [];
  const ended = rig.run(
    (port) =>
      port
        .on(/^AT\+CLCC$/, () => lines(...calls, 'OK'))
        .on(/^AT\+CHUP$/, () => {
          calls = [];
          return lines('OK');
        })
        .on(/^ATD/, () => {
          calls = [`+CLCC: 1,0,0,0,0,"${TO}",145`];
          return lines('OK');
        })
        .on(/^AT\+AUDIO=1$/, () => {
          const answer = lines(isRefused ? 'ERROR' : 'OK');
          isRefused = false;
          return answer;
        }),
    {
      telephony: {
        createResampler,
        calls: {
          newId: () => 'call-in',
          note: () => undefined,
          end: (id) => ends.push(id),
        },
        audioAccess: () => ({
          audio: { on: ['AT+AUDIO=1'], off: ['AT+AUDIO=0'], rateHz: 8_000 },
          open: async () => {
            const device = new FakePcm();
            device.close = () => closing;
            return device;
          },
        }),
      },
    },
  );
  await rig.inService();
  const dial = async (id: string): Promise<void> => {
    void rig.session?.telephone?.dial(id, TO);
    await rig.pass(1_000);
  };
  const hangUp = async (): Promise<void> => {
    void rig.session?.telephone?.hangUp('local_hangup');
    await rig.pass(1_000);
  };
  await dial('call-1');
  return { rig, dial, ended, ends, hangUp, letClose: () => letClose(), calls: () => calls };
}

t.test('a call that begins while the audio of the last one closes is not cut off', async (t) => {
  const { calls, dial, ended, ends, hangUp, letClose, rig } = await degraded(t);
  await hangUp();
  await dial('call-2');
  letClose();
  await rig.pass(120_000);
  t.equal(rig.port.count(RESTART), 0);
  t.same(ends, ['call-1']);
  t.equal(calls().length, 1, 'the second call is up');
  await hangUp();
  rig.startTime();
  t.match(await ended, { trouble: 'restarted' });
  t.equal(rig.port.count(RESTART), 1);
});

t.test('a text of several parts is sent to its end first', async (t) => {
  const { ended, hangUp, letClose, rig } = await degraded(t);
  rig.port.on(/^00[0-9A-F]+$/, () => undefined);
  const params = { iccid: TEST_ICCID, to: TO, body: 'long '.repeat(60), segments_max: 2 };
  const sent = rig.session?.outbox?.send({
    commandId: 'text-0001',
    params,
    deadlineAt: rig.clock.now() + 60_000,
  });
  await until('the first part', () => rig.port.count(/^00[0-9A-F]+$/) === 1);
  await hangUp();
  letClose();
  await rig.pass(1_000);
  t.equal(rig.port.count(RESTART), 0);
  rig.port.on(/^00[0-9A-F]+$/, lines('+CMGS: 8', 'OK')).say(lines('+CMGS: 7', 'OK'));
  rig.startTime();
  t.match(await sent, { status: 'accepted', message_references: [7, 8] });
  t.match(await ended, { trouble: 'restarted' });
  t.equal(rig.port.count(RESTART), 1);
});
