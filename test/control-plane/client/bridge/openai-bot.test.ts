// OpenAI's own transport for Twilio, unmodified, behind a bridge: it hears the caller, is heard, and is interrupted.
// The other end of it is a server with the events of the Realtime API (https://platform.openai.com/docs/api-reference/realtime-server-events).
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import type { WebSocket } from 'ws';
import { socketBot } from '#control-plane/client/bridge/socket-bot.ts';
import { FRAME_BYTES } from '#shared/voice/media.ts';
import { botServer } from '../../../fixtures/agents/bot-server.ts';
import { bridged } from '../../../fixtures/agents/bridged.ts';
import { createRig } from '../../../fixtures/service/rig.ts';
import { until } from '../../../fixtures/until.ts';
import { PROJECT_FOLDER } from '../../../tidy/sources.ts';

const EXTENSIONS = join(PROJECT_FOLDER, 'test/tools/node_modules/@openai/agents-extensions/dist/index.mjs');
if (!existsSync(EXTENSIONS)) throw new Error('run npm run tools');

interface Transport {
  connect(options: { apiKey: string; url: string }): Promise<void>;
  close(): void;
  on(event: 'error', listener: (error: unknown) => void): void;
}
const { TwilioRealtimeTransportLayer } = (await import(pathToFileURL(EXTENSIONS).href)) as {
  TwilioRealtimeTransportLayer: new (options: { twilioWebSocket: WebSocket }) => Transport;
};

const rig = await createRig();

/** Ten seconds of mu-law, which is 0x10 as a sound. */
const ANSWER = Buffer.alloc(80_000, 0x10);

t.test('the bot hears the caller, answers, and stops when the caller speaks', async (t) => {
  const realtime = await botServer(t);
  const errors: unknown[] = [];
  const server = await botServer(t, (socket) => {
    const transport = new TwilioRealtimeTransportLayer({ twilioWebSocket: socket });
    transport.on('error', (error) => errors.push(error));
    void transport.connect({ apiKey: 'test', url: realtime.url });
    void once(socket, 'close').then(() => transport.close());
  });
  const phone = await bridged(t, rig, socketBot({ url: server.url, protocol: 'twilio' }));
  const { call, media } = await phone.ring();
  const model = await until('its model', () => realtime.bots[0], 20_000);
  model.say({ type: 'session.created', event_id: 'event_1', session: { id: 'sess_1', type: 'realtime' } });
  await until('it has set the format', () => model.of({ type: 'session.update' }).length > 0);
  t.match(JSON.stringify(model.of({ type: 'session.update' })), /audio\/pcmu|g711_ulaw/);
  await until('it hears', () => {
    media.capture(Buffer.alloc(FRAME_BYTES, 1));
    return model.of({ type: 'input_audio_buffer.append' }).length > 3;
  });
  const ids = { response_id: 'resp_1', item_id: 'item_1', output_index: 0, content_index: 0 };
  model.say({ type: 'response.created', event_id: 'event_2', response: { id: 'resp_1' } });
  for (let at = 0; at < ANSWER.length; at += 8_000)
    model.say({
      type: 'response.output_audio.delta',
      event_id: `event_audio_${at}`,
      ...ids,
      delta: ANSWER.subarray(at, at + 8_000).toString('base64'),
    });
  await until('a second of it is heard', () => {
    media.capture();
    return media.frames.length > 50;
  });
  t.ok(media.heard.some((octet) => octet !== 0));
  model.say({
    type: 'input_audio_buffer.speech_started',
    event_id: 'event_3',
    item_id: 'item_2',
    audio_start_ms: 1_000,
  });
  await until('the service gets a clear', () => media.texts.some(({ type }) => type === 'clear'));
  const heard = media.frames.length;
  for (let count = 0; count < 20; count += 1) media.capture();
  await until('it reports what was heard', () => {
    media.capture();
    return model.of({ type: 'conversation.item.truncate' }).length > 0;
  });
  t.equal(media.frames.length, heard, 'nothing more of it is heard');
  const [{ audio_end_ms: heardMs } = {}] = model.of({ type: 'conversation.item.truncate' });
  t.ok(Number(heardMs) <= heard * 20, `${heardMs} ms of ${heard * 20} ms`);
  phone.line.end(call, { reason: 'remote_hangup', cause: 16 });
  t.match(await phone.end(), {
    connected: true,
    words: 'the call ended: the far end hung up (16 normal_clearing)',
  });
  t.same(errors, []);
});
