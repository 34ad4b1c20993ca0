// Calls that a bridge connects with bots that are servers: who hears whom, and how each end ends the other.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { type WebSocket, WebSocketServer } from 'ws';
import { IgnoredBotMessages } from '#control-plane/client/bridge/ignored-messages.ts';
import { ServiceStream } from '#control-plane/client/bridge/service-stream.ts';
import { connectSocketBot, cutTo, socketBot } from '#control-plane/client/bridge/socket-bot.ts';
import { Unread } from '#control-plane/client/bridge/unread.ts';
import { SimrackClient } from '#control-plane/client/simrack-client.ts';
import type { StreamProtocol } from '#shared/api/voice-frames.ts';
import { FRAME_BYTES } from '#shared/voice/media.ts';
import { botServer } from '../../../fixtures/agents/bot-server.ts';
import { bridged } from '../../../fixtures/agents/bridged.ts';
import { FAR_END } from '../../../fixtures/agents/telephone.ts';
import { freePort } from '../../../fixtures/network/free-port.ts';
import { ScriptedNode } from '../../../fixtures/nodes/scripted-node.ts';
import { createRig } from '../../../fixtures/service/rig.ts';
import { until } from '../../../fixtures/until.ts';

const rig = await createRig();

/** 100 ms of mu-law that is not silence. */
const SPOKEN = Buffer.alloc(800, 0x10).toString('base64');

t.test(
  'Twilio: the bot is connected, hears, is heard, and its last words are heard to their end',
  async (t) => {
    const server = await botServer(t);
    const phone = await bridged(t, rig, socketBot({ url: server.url, protocol: 'twilio' }));
    const { call, media } = await phone.ring();
    const bot = await until('the bot', () => server.bots[0]);
    await until('start', () => bot.of({ event: 'start' }).length === 1);
    t.match(bot.texts.slice(0, 2), [
      { event: 'connected', protocol: 'Call' },
      {
        event: 'start',
        start: { callSid: call.call_id, customParameters: { from_number: FAR_END, direction: 'inbound' } },
      },
    ]);
    for (let count = 0; count < 3; count += 1) media.capture();
    await until('it hears', () => bot.of({ event: 'media' }).length === 3);
    bot.say({ event: 'media', media: { payload: SPOKEN } });
    bot.say({ event: 'mark', mark: { name: 'said' } });
    await until('it is heard', () => {
      media.capture();
      return bot.of({ event: 'mark' }).length === 1;
    });
    t.equal(media.frames.length, 5);
    for (let count = 0; count < 10; count += 1) bot.say({ event: 'media', media: { payload: SPOKEN } });
    bot.socket.close(1000);
    await until('hung up', () => {
      media.capture();
      return phone.node.commands('hang_up').length > 0;
    });
    t.equal(media.frames.length, 55, 'no word is lost');
    t.match(await phone.end(), {
      connected: true,
      answered: true,
      words: /the bot closed the connection \(1000/,
    });
    await until('recorded', async () => (await phone.calls())[0]?.['reason'] === 'local_hangup');
  },
);

t.test('a long reason in any script is cut to what a close frame holds', async (t) => {
  t.equal(cutTo('é'.repeat(100), 123), 'é'.repeat(61));
  t.equal(cutTo('😀'.repeat(40), 123), '😀'.repeat(30), 'no half of a character');
  t.equal(cutTo('short', 123), 'short');
  const server = await botServer(t);
  const host = { send: () => {}, done: () => {}, failed: () => {}, note: () => {} };
  const options = { url: server.url, protocol: 'raw' } as const;
  const bot = await connectSocketBot(options, host, new AbortController().signal);
  bot.end(`the service said: ${'电话'.repeat(60)}`);
  const heard = await until('the bot', () => server.bots[0]);
  t.equal(await heard.closed(), 1000);
  t.match(heard.closeReason, /^the service said: (电话)+电?$/);
});

t.test('a bot that reads nothing for ten seconds is dropped; one that reads slowly is not', async (t) => {
  const gone = new Unread();
  t.same(
    [0, 9_999, 10_000].map((ms) => gone.isStalled(600_000, ms)),
    [false, false, true],
  );
  const slow = new Unread();
  const left = Array.from({ length: 60 }, (_, second) => slow.isStalled(600_000 - second, second * 1_000));
  t.notOk(left.includes(true));
  const recovered = new Unread();
  recovered.isStalled(600_000, 0);
  recovered.reads();
  t.notOk(recovered.isStalled(600_000, 20_000));
});

t.test('the caller hangs up: the bot gets stop, and a close with 1000 and the cause', async (t) => {
  const server = await botServer(t);
  const phone = await bridged(t, rig, socketBot({ url: server.url, protocol: 'twilio' }));
  const { call } = await phone.ring();
  const bot = await until('the bot', () => server.bots[0]);
  await until('start', () => bot.of({ event: 'start' }).length === 1);
  phone.line.end(call, { reason: 'remote_hangup', cause: 16 });
  t.equal(await bot.closed(), 1000);
  t.match(bot.closeReason, /16 normal_clearing/);
  t.match(bot.texts.at(-1), { event: 'stop' });
  t.match(await phone.end(), {
    answered: true,
    reason: 'remote_hangup',
    words: 'the call ended: the far end hung up (16 normal_clearing)',
  });
});

t.test('a bot that dies ends the call at once, and one that is not there does not answer it', async (t) => {
  const server = await botServer(t);
  const phone = await bridged(t, rig, socketBot({ url: server.url, protocol: 'twilio' }));
  await phone.ring();
  const bot = await until('the bot', () => server.bots[0]);
  bot.drop();
  await until('hung up', () => phone.node.commands('hang_up').length === 1);
  t.match(await phone.end(), { connected: true, words: /the bot at ws:.* is gone \(1006/ });
  const url = `ws://127.0.0.1:${await freePort()}/ws`;
  const other = await bridged(t, rig, socketBot({ url, protocol: 'twilio' }));
  other.line.ring();
  t.match(await other.end(), {
    connected: false,
    answered: false,
    words: /no connection to ws:.*ECONNREFUSED/,
  });
  t.same([other.node.commands('answer').length, other.node.commands('hang_up').length], [0, 1]);
});

t.test('a caller that gives up while the bot is being connected', async (t) => {
  const phone = await bridged(
    t,
    rig,
    (_call, _host, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new Error('aborted')));
      }),
  );
  const call = phone.line.ring();
  await until('it is taken', () => phone.taken.length === 1);
  phone.line.end(call, { reason: 'cancelled', cause: 16 });
  t.match(await phone.end(), {
    connected: false,
    answered: false,
    words: 'the call ended before its audio was connected',
  });
  t.equal(phone.node.commands('answer').length, 0);
});

t.test(
  'a stream that breaks is opened again, and the bot sees one stream with growing numbers',
  async (t) => {
    const server = await botServer(t);
    const phone = await bridged(t, rig, socketBot({ url: server.url, protocol: 'twilio' }));
    const { call, media } = await phone.ring();
    const bot = await until('the bot', () => server.bots[0]);
    await until('start', () => bot.of({ event: 'start' }).length === 1);
    for (let count = 0; count < 5; count += 1) media.capture();
    await until('it hears', () => bot.of({ event: 'media' }).length === 5);
    // The instance gives its streams up, as at a restart; the node is linked to it again.
    await phone.service.stop();
    const again = await rig.start(t, {
      databaseUrl: phone.databaseUrl,
      port: Number(new URL(phone.url).port),
    });
    phone.line.node = await ScriptedNode.connect(again.url, {
      journalId: 'journal-1',
      onCommand: phone.line.onCommand,
      calls: phone.line.calls,
    });
    t.teardown(() => phone.line.node?.drop());
    const next = await until(
      'a new media link',
      () => phone.line.medias.at(-1) !== media && phone.line.media,
      15_000,
    );
    await until('it hears again', () => {
      if (next !== false) next.capture();
      return bot.of({ event: 'media' }).length >= 8;
    });
    t.equal(bot.of({ event: 'connected' }).length, 1);
    t.equal(bot.of({ event: 'start' }).length, 1);
    const chunks = bot.of({ event: 'media' }).map(({ media }) => Number((media as { chunk: string }).chunk));
    t.same(
      chunks,
      chunks.map((_, index) => index + 1),
    );
    const sequence = bot.texts.slice(1).map(({ sequenceNumber }) => Number(sequenceNumber));
    t.same(
      sequence,
      [...new Set(sequence)].sort((a, b) => a - b),
      'growing',
    );
    t.same([...new Set(bot.texts.slice(1).map(({ streamSid }) => streamSid))].length, 1);
    t.equal(phone.line.calls[0]?.call_id, call.call_id);
  },
);

t.test('Vonage and plain audio', async (t) => {
  for (const protocol of ['vonage', 'raw'] as const) {
    const server = await botServer(t);
    const phone = await bridged(t, rig, socketBot({ url: server.url, protocol }));
    const { media } = await phone.ring();
    const bot = await until('the bot', () => server.bots[0]);
    media.capture(Buffer.alloc(FRAME_BYTES, 7));
    await until('it hears', () => {
      media.capture(Buffer.alloc(FRAME_BYTES, 7));
      return bot.binary.length > 2;
    });
    t.same(bot.binary[0], Buffer.alloc(FRAME_BYTES, 7));
    t.same(
      bot.texts.map(({ event }) => event),
      protocol === 'vonage' ? ['websocket:connected'] : [],
    );
    bot.socket.send('{"type":"playback_clear_buffer"}');
    bot.socket.send('a transcript');
    for (let index = 0; index < 20; index += 1) bot.socket.send(Buffer.alloc(FRAME_BYTES, 1 + index));
    bot.socket.close(1000);
    await until('hung up', () => {
      media.capture();
      return phone.node.commands('hang_up').length > 0;
    });
    t.same(
      media.frames.map(({ audio }) => audio[0]),
      Array.from({ length: 20 }, (_, index) => 1 + index),
    );
    await phone.end();
    const first = protocol === 'raw' ? 'a transcript' : '{"type":"playback_clear_buffer"}';
    const why = 'it is not one of the control messages';
    t.same(phone.notes, [`a message of the bot was ignored, because ${why}: ${first}`]);
  }
});

t.test('the first message of a bot that the service ignores is reported', async (t) => {
  const media = JSON.stringify({ event: 'media', media: { payload: SPOKEN } });
  const unknown = '{"event":"hello"}';
  const cases: Array<[StreamProtocol, Array<Buffer | string>, RegExp | undefined]> = [
    ['twilio', [media, '{"event":"clear"}', '{"event":"mark","mark":{"name":"a"}}'], undefined],
    ['twilio', [media, unknown, 'text'], /control messages: {"event":"hello"}$/],
    ['twilio', ['text'], /it is not JSON: text$/],
    ['twilio', ['{"event":"dtmf","dtmf":{"digits":"x"}}'], /"dtmf\.digits" is missing or wrong: {/],
    ['twilio', ['{"event":"media","media":{}}'], /"media\.payload" is missing or wrong/],
    ['twilio', [Buffer.alloc(2)], /because it is binary$/],
    ['vonage', [Buffer.alloc(2), '{"action":"clear"}'], undefined],
    ['vonage', ['{"action":"x"}'], /control messages/],
    ['raw', ['never checked here'], undefined],
  ];
  for (const [protocol, messages, expected] of cases) {
    const ignored = new IgnoredBotMessages(protocol);
    const words = messages.map((message) => ignored.check(message)).filter((each) => each !== undefined);
    t.equal(words.length, expected === undefined ? 0 : 1, words.join());
    if (expected !== undefined) t.match(words[0], expected);
  }
  const shown = new IgnoredBotMessages('raw').report('why', 'x'.repeat(200));
  t.equal(shown, `a message of the bot was ignored, because why: ${'x'.repeat(100)}`);
});

t.test('a bot without TLS behind wss://', async (t) => {
  const server = await botServer(t);
  const host = { send: () => {}, done: () => {}, failed: () => {}, note: () => {} };
  const options = { url: server.url.replace('ws:', 'wss:'), protocol: 'raw' } as const;
  await t.rejects(connectSocketBot(options, host, new AbortController().signal), {
    name: 'BotError',
    message: /^no connection to wss:.*: the bot’s server does not speak TLS: use ws:\/\/$/,
  });
});

t.test('a bridge that is stopped hangs up and ends', async (t) => {
  const server = await botServer(t);
  const phone = await bridged(t, rig, socketBot({ url: server.url, protocol: 'raw' }));
  await phone.ring();
  const bot = await until('the bot', () => server.bots[0]);
  phone.stop();
  await phone.bridging;
  t.equal(await bot.closed(), 1000);
  await until('hung up', () => phone.node.commands('hang_up').length === 1);
  t.match(await phone.end(), { words: 'the bridge was stopped' });
});

t.test(
  'last words while the stream is opened again: it says goodbye then, and waits for modem and network',
  async (t) => {
    // A service whose first stream breaks. It counts no audio: only when the goodbye comes, and when the hang-up.
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    t.teardown(() => server.close());
    await once(server, 'listening');
    const sockets: WebSocket[] = [];
    const goodbyes: string[] = [];
    let answeredAtMs = 0;
    const hungUp = new Promise<{ code: number; afterMs: number }>((resolve) => {
      server.on('connection', (socket) => {
        if (sockets.push(socket) === 1) return;
        socket.on('message', (data) => {
          goodbyes.push(String(data));
          answeredAtMs = performance.now();
          socket.send(String(data));
        });
        socket.on('close', (code) => resolve({ code, afterMs: performance.now() - answeredAtMs }));
      });
    });
    const client = new SimrackClient({
      baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      token: 'unchecked',
    });
    const stream: ServiceStream = new ServiceStream(
      client,
      { callId: 'call-1', protocol: 'twilio' },
      {
        receive: () => undefined,
        reopened: () => undefined,
        // The stream is lost: nothing can be sent.
        pause: () => stream.finish(),
        // It is open.
        resume: () => {
          if (sockets.length === 1) sockets[0]?.terminate();
        },
      },
    );
    t.match(await stream.run(new AbortController().signal), { kind: 'closed' });
    const { code, afterMs } = await hungUp;
    t.equal(code, 1000);
    t.match(goodbyes, [/"event":"mark"/]);
    // Timers count whole milliseconds.
    t.ok(afterMs > 295, `${afterMs} ms`);
  },
);
