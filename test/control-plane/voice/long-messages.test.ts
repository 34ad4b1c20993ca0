// A minute of audio in one message: it is played as one is, and neither many calls nor many such messages cost more than a bound.
import { once } from 'node:events';
import t from 'tap';
import WebSocket from 'ws';
import { FRAME_BYTES } from '#shared/voice/media.ts';
import { subscribeInStore } from '../../fixtures/agents/subscribed.ts';
import { ClientSocket, conversation, telephone } from '../../fixtures/agents/telephone.ts';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';
import { slotAt } from '../../fixtures/nodes/scripted-node.ts';
import { MINUTE_MS } from '../../fixtures/service/housekeeping.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { instanceCount } from '../../fixtures/service/several-instances.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig();

const MINUTE = 3_000;
const MESSAGE_BYTES_MAX = 2 * 1024 * 1024;
const CALLS = 64;
const MU_LAW_BYTES_PER_SECOND = 8_000;

t.test('a minute in one message is heard whole, in order, and its mark at its end', async (t) => {
  const phone = await telephone(t, rig);
  const { client, media } = await conversation(phone);
  const speech = Buffer.concat(
    Array.from({ length: MINUTE }, (_, index) => Buffer.alloc(FRAME_BYTES, index % 251)),
  );
  client.socket.send(speech);
  client.say({ type: 'mark', name: 'end' });
  await until(
    'its end',
    () => {
      for (let count = 0; count < 8; count += 1) media.capture();
      return client.of({ type: 'mark' }).length > 0;
    },
    60_000,
  );
  t.ok(media.heard.equals(speech));
  t.same(client.of({ type: 'overflow' }), []);
});

t.test('Twilio: two minutes in one message are taken, and many long ones end the stream', async (t) => {
  const phone = await telephone(t, rig);
  const { client } = await conversation(phone, { protocol: 'twilio' });
  const media = (bytes: number): object => ({
    event: 'media',
    media: { payload: Buffer.alloc(bytes, 0x10).toString('base64') },
  });
  client.say(media(120 * MU_LAW_BYTES_PER_SECOND));
  client.say({ event: 'mark', mark: { name: 'taken' } });
  client.say({ event: 'clear' });
  await until('it is taken', () => client.of({ event: 'mark' }).length === 1);
  // 20 minutes of audio, which would cost the service a second of its processor.
  for (let count = 0; count < 200; count += 1) client.say(media(6 * MU_LAW_BYTES_PER_SECOND));
  t.equal(await client.closed(), 1008);
});

t.test('64 calls that each send three minutes at once: memory is bounded', async (t) => {
  const slots = Array.from({ length: CALLS }, (_, index) => slotAt(index + 1));
  const phone = await telephone(t, rig, { slots });
  const clients: ClientSocket[] = [];
  for (const [index, { iccid, number }] of slots.entries()) {
    const address = `0x${String(index + 1).padStart(12, '0')}${'0'.repeat(28)}` as const;
    const headers =
      index === 0
        ? phone.headers
        : (await subscribeInStore(phone.databaseUrl, { address }, String(number))).headers;
    const { call_id: callId } = phone.line.ring('+13105550188', `in-${index}-long-message`, String(iccid));
    const linked = phone.line.mediaOf(callId);
    const open = async (): Promise<ClientSocket> => {
      const socket = new WebSocket(`${phone.url.replace('http', 'ws')}/voice/stream/${callId}`, {
        headers,
      });
      t.teardown(() => socket.terminate());
      const client = new ClientSocket(socket);
      await once(socket, 'open');
      return client;
    };
    let client = await open();
    const isLinked = linked.then(() => true);
    await until('its media link', async () => {
      if (client.closeCode === 4404) client = await open();
      return Promise.race([isLinked, new Promise<false>((resolve) => setImmediate(() => resolve(false)))]);
    });
    clients.push(client);
  }
  const message = Buffer.alloc(MESSAGE_BYTES_MAX, 1);
  const { arrayBuffers: before } = process.memoryUsage();
  let peak = 0;
  const watch = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage().arrayBuffers);
  }, 20);
  t.teardown(() => clearInterval(watch));
  for (let round = 0; round < 3; round += 1) {
    for (const { socket } of clients) socket.send(message);
    await until('it is sent', () => clients.every(({ socket }) => socket.bufferedAmount === 0), 120_000);
  }
  const kept = (peak - before) / 1024 / 1024;
  // A minute waits for each call. Beside it one message is under way for each, here at both ends of the connection.
  t.comment(`${kept.toFixed(0)} MiB at most for ${CALLS} calls`);
  t.ok(kept < CALLS * 8, `${kept.toFixed(0)} MiB`);
  t.same(
    clients.map(({ closeCode }) => closeCode).filter((code) => code !== undefined),
    [],
  );
});

t.test(
  'too many messages close with 1008, also over streams, and no other stream waits for them',
  async (t) => {
    const clock = new ManualClock();
    const phone = await telephone(t, rig, { service: { clock, heartbeatMs: 1_000 * MINUTE_MS } });
    const { client, callId } = await conversation(phone);
    type Client = typeof client;
    /** The service reads no more: it waits two seconds for the answer to its close. */
    const closed = (flooder: Client, say: () => void = () => undefined): Promise<unknown> => {
      let isWaiting = true;
      return until('it is closed', () => {
        say();
        if (isWaiting && flooder.socket.readyState === flooder.socket.CLOSING) {
          isWaiting = false;
          clock.advance(2_000);
        }
        return flooder.closeCode;
      });
    };
    const flood = (flooder: Client, say: () => void): Promise<unknown> =>
      closed(flooder, () => {
        for (let count = 0; count < 2_000; count += 1) say();
      });
    t.equal(
      await flood(client, () => client.socket.send(Buffer.alloc(FRAME_BYTES, 1))),
      1008,
      'far more than real time',
    );
    if (instanceCount() === 1) {
      const again = await phone.stream(callId);
      for (let count = 0; count < 2_500; count += 1) again.socket.send(Buffer.alloc(FRAME_BYTES, 1));
      t.equal(await closed(again), 1008, 'a stream that is opened again has what two seconds brought');
    }
    const next = await phone.stream(callId);
    t.equal(await flood(next, () => next.say({ type: 'nonsense' })), 1008);
    t.ok(next.of({ type: 'error' }).length < 2_000);
    clock.advance(3_000);
    const last = await phone.stream(callId);
    for (let count = 0; count < 2_500; count += 1) last.socket.send(Buffer.alloc(FRAME_BYTES, 1));
    last.say({ type: 'clear' });
    await until(
      'the largest message that is allowed is taken',
      () => last.of({ type: 'cleared' }).length === 1,
    );
  },
);
