// The end of a call that a bot asks for while its last words still wait: the far end hears all of them.
import t from 'tap';
import { FRAME_BYTES } from '#shared/voice/media.ts';
import { conversation, telephone } from '../../fixtures/agents/telephone.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig();

type Phone = Awaited<ReturnType<typeof telephone>>;

const hungUp = (phone: Phone): boolean => phone.node.commands('hang_up').length > 0;

/** Three seconds that are sent at once, each frame with its number. */
const GOODBYE = Buffer.concat(
  Array.from({ length: 150 }, (_, index) => Buffer.alloc(FRAME_BYTES, index + 1)),
);

for (const leaves of [false, true])
  t.test(`no word of the goodbye is lost${leaves ? ', also when the bot leaves at once' : ''}`, async (t) => {
    const phone = await telephone(t, rig);
    const { client, media } = await conversation(phone);
    client.socket.send(GOODBYE);
    client.say({ type: 'hangup', when: 'played' });
    client.socket.send(Buffer.alloc(FRAME_BYTES, 200));
    if (leaves) client.socket.close(1000);
    while (media.frames.length < 150) {
      media.capture();
      await new Promise((resolve) => setImmediate(resolve));
      t.notOk(hungUp(phone) && media.frames.length < 150, 'not before its end');
    }
    // All was sent to the modem, and not yet all played.
    media.capture();
    t.notOk(hungUp(phone));
    await until('hung up', () => {
      media.capture();
      return hungUp(phone);
    });
    t.same(media.heard, GOODBYE, 'and nothing that came after the request');
    t.match(phone.node.commands('hang_up')[0]?.params, { reason: 'local_hangup' });
    if (!leaves) t.same([await client.closed(), client.closeReason], [1000, '16 normal_clearing']);
    await until('recorded', async () => (await phone.calls())[0]?.['reason'] === 'local_hangup');
  });

t.test('hangup at once, and with nothing to say', async (t) => {
  for (const request of [
    { type: 'hangup' },
    { type: 'hangup', when: 'now' },
    { type: 'hangup', when: 'played' },
  ]) {
    const phone = await telephone(t, rig);
    const { client, media } = await conversation(phone);
    if (request.when !== 'played') client.socket.send(GOODBYE);
    client.say(request);
    t.equal(await client.closed(), 1000, JSON.stringify(request));
    t.ok(media.frames.length < 10);
  }
});

t.test('the far end may interrupt the goodbye', async (t) => {
  const phone = await telephone(t, rig);
  const { client, media } = await conversation(phone);
  client.socket.send(GOODBYE);
  media.capture();
  client.say({ type: 'hangup', when: 'played' });
  client.say({ type: 'clear' });
  t.equal(await client.closed(), 1000);
  t.ok(media.frames.length < 10);
});

t.test('a media link that breaks, or a call that is not answered, does not keep it', async (t) => {
  const phone = await telephone(t, rig);
  const { client, media } = await conversation(phone);
  client.socket.send(GOODBYE);
  media.capture();
  client.say({ type: 'hangup', when: 'played' });
  client.socket.close(1000);
  await until('the bot is gone', () => client.closeCode !== undefined);
  media.capture();
  t.notOk(hungUp(phone));
  media.socket.terminate();
  await until('hung up', () => hungUp(phone));
  const other = await telephone(t, rig);
  other.line.opensMedia = false;
  const callId = String((await other.dial()).body['call_id']);
  const caller = await other.stream(callId);
  caller.socket.send(GOODBYE);
  caller.say({ type: 'hangup', when: 'played' });
  caller.socket.close(1000);
  await until('it rings no more', () => hungUp(other));
});
