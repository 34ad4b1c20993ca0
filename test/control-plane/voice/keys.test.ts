// Keys of a telephone on the stream of a call: pressed by the client and by the far end.
import t from 'tap';
import { conversation, telephone } from '../../fixtures/agents/telephone.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig();

t.test('keys, pressed here and there; a wrong message is answered with its wrong field', async (t) => {
  const phone = await telephone(t, rig);
  const { client, media } = await conversation(phone);
  client.say({ type: 'dtmf', digits: '12#A' });
  await until('pressed', () => media.texts.length === 1);
  t.same(media.texts, [{ type: 'dtmf', digits: '12#A' }]);
  media.say({ type: 'dtmf', digit: '*' });
  await until('heard', () => client.of({ type: 'dtmf' }).length === 1);
  t.same(client.of({ type: 'dtmf' }), [{ type: 'dtmf', digit: '*' }]);
  for (const bad of [
    { type: 'dtmf', digits: 'AT+CFUN=0' },
    { type: 'dtmf', digits: '1\r2' },
    { type: 'dtmf' },
    { type: 'mark' },
    { type: 'hangup', when: 'later' },
    { type: 'dance' },
    7,
  ])
    client.socket.send(JSON.stringify(bad));
  await until('each is reported', () => client.of({ type: 'error' }).length === 7);
  t.same(client.of({ type: 'error' }), [
    { type: 'error', field: 'digits', message: '"digits" must be 1 to 32 of 0-9, *, # and A-D' },
    { type: 'error', field: 'digits', message: '"digits" must be 1 to 32 of 0-9, *, # and A-D' },
    { type: 'error', field: 'digits', message: '"digits" must be 1 to 32 of 0-9, *, # and A-D' },
    { type: 'error', field: 'name', message: '"name" must have 1 to 256 characters' },
    { type: 'error', field: 'when', message: '"when" must be now or played' },
    { type: 'error', field: 'type', message: '"type" must be clear, mark, dtmf or hangup' },
    { type: 'error', field: 'type', message: '"type" must be clear, mark, dtmf or hangup' },
  ]);
  t.equal(media.texts.length, 1);
});

t.test('keys that are pressed before the far end answers are not lost', async (t) => {
  const { dial, line, stream } = await telephone(t, rig);
  const callId = String((await dial()).body['call_id']);
  const client = await stream(callId);
  for (const digits of ['1', '2#']) client.say({ type: 'dtmf', digits });
  // Answered in their order: the keys were read.
  client.say({ type: 'dance' });
  await until('both were read', () => client.of({ type: 'error' }).length === 1);
  line.answer(callId);
  await until('pressed', () => line.media?.texts.length === 2);
  t.same(line.media?.texts, [
    { type: 'dtmf', digits: '1' },
    { type: 'dtmf', digits: '2#' },
  ]);
});
