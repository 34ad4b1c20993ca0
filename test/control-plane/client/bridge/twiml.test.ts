// TwiML that a bridge follows, and TwiML that it refuses by name; the request is one that Twilio's checks accept.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { signatureOf } from '#control-plane/client/bridge/twilio-request.ts';
import { readTwiml } from '#control-plane/client/bridge/twiml.ts';
import { streamUrlOf, twimlBot } from '#control-plane/client/bridge/twiml-bot.ts';
import { botServer } from '../../../fixtures/agents/bot-server.ts';
import { bridged } from '../../../fixtures/agents/bridged.ts';
import { FAR_END } from '../../../fixtures/agents/telephone.ts';
import { served } from '../../../fixtures/network/served.ts';
import { createRig } from '../../../fixtures/service/rig.ts';
import { until } from '../../../fixtures/until.ts';

const rig = await createRig();

const twiml = (body: string): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<Response>${body}</Response>`;
const CONNECT = '<Connect><Stream url="wss://example.org/ws"/></Connect>';

t.test('documents', async (t) => {
  t.same(
    readTwiml(
      twiml(`<!-- a comment --><Pause length="2"/>
        <Connect><Stream url="wss://example.org/ws?a=1&amp;b=2" track="inbound_track">
          <Parameter name="customer" value="R&amp;D &lt;1&gt;"/></Stream></Connect><Hangup/>`),
    ),
    {
      pauseSeconds: 2,
      stream: { url: 'wss://example.org/ws?a=1&b=2', parameters: { customer: 'R&D <1>' } },
    },
  );
  t.same(readTwiml(twiml('<Reject reason="busy"/>')), {
    pauseSeconds: 0,
    stream: undefined,
    endsWith: 'Reject',
  });
  t.same(readTwiml(twiml(`<Hangup/>${CONNECT}`)).stream, undefined);
  const refused: Array<[string, RegExp]> = [
    [twiml(`<Say>Hello</Say>${CONNECT}`), /the TwiML verb <Say>\. To go on without it, add --skip Say\./],
    [twiml('<Dial>+12065550100</Dial>'), /<Dial>\. Without it, the TwiML has no <Connect><Stream>/],
    [twiml('<Start><Stream url="wss://example.org/ws"/></Start>'), /<Start>\. Without it/],
    [twiml(`<Say>Bye</Say><Hangup/>${CONNECT}`), /<Say>\. Without it/],
    [
      twiml('<Connect action="/next"><Stream url="wss://example.org/ws"/></Connect>'),
      /attribute action of <Connect>/,
    ],
    [twiml('<Connect><ConversationRelay url="wss://example.org/ws"/></Connect>'), /<ConversationRelay>/],
    [twiml('<Connect/>'), /<Connect> with <nothing>/],
    [twiml('<Connect><Stream url="https://example.org"/></Connect>'), /must begin with ws/],
    [twiml('<Connect><Stream url="wss://"/></Connect>'), /not a WebSocket URL: wss:/],
    [twiml('<Connect><Stream url="wss://example.org/ws#a"/></Connect>'), /not a WebSocket URL/],
    [twiml('<Connect><Stream url="wss://example.org" track="both_tracks"/></Connect>'), /both_tracks/],
    [twiml('<Connect><Stream/></Connect>'), /^<Stream> has no url$/],
    ['<Other/>', /must begin with <Response>, not <Other>/],
    ['<html><body>Not found</body></html>', /^the answer is HTML, not TwiML: <html><body>Not found/],
    ['<!DOCTYPE html>\n<html></html>', /^the answer is HTML, not TwiML: <!DOCTYPE html>$/],
    ['{"error": true}', /^the answer is JSON, not TwiML: {"error": true}$/],
    ['', /not TwiML/],
    ['<Response><Connect></Response>', /not TwiML/],
    ['<'.repeat(65_000), /more than 1000 tags/],
    ['<!DOCTYPE a [<!ENTITY b "cccc">]><Response>&b;</Response>', /document type/],
  ];
  for (const [text, message] of refused) t.throws(() => readTwiml(text), { name: 'BotError', message }, text);
  t.throws(() => readTwiml('<Response', new Set(), 'Twiml'), { message: /^Twiml is not TwiML: / });
  t.match(readTwiml(twiml(`<Say>Hello</Say>${CONNECT}`), new Set(['Say'])).stream, {
    url: 'wss://example.org/ws',
  });
});

t.test('a remote app cannot make the far end’s voice leave unencrypted', async (t) => {
  for (const [stream, app, expected] of [
    ['wss://localhost:5050/ws', 'http://localhost:5050/twiml', 'ws://localhost:5050/ws'],
    ['wss://localhost:5051/ws', 'http://localhost:5050/twiml', 'wss://localhost:5051/ws'],
    ['wss://bots.example/ws', 'https://app.example/twiml', 'wss://bots.example/ws'],
    ['ws://127.0.0.1:7860/ws', 'https://app.example/twiml', 'ws://127.0.0.1:7860/ws'],
    ['ws://[::1]:7860/ws', 'https://app.example/twiml', 'ws://[::1]:7860/ws'],
  ] as const)
    t.equal(streamUrlOf(stream, app), expected);
  t.throws(() => streamUrlOf('ws://app.example/ws', 'https://app.example/twiml'), {
    name: 'BotError',
    message: 'the TwiML of https://app.example/twiml has a stream without TLS, at app.example',
  });
});

t.test('the signature is that of Twilio’s own libraries', async (t) => {
  // Test data of twilio/twilio-python, tests/unit/test_request_validator.py, and of its libraries for other languages.
  const fields = {
    CallSid: 'CA1234567890ABCDE',
    Digits: '1234',
    From: '+14158675309',
    To: '+18005551212',
    Caller: '+14158675309',
  };
  t.equal(
    signatureOf('12345', 'https://mycompany.com/myapp.php?foo=1&bar=2', fields),
    'RSOYDt4T1cUTdK1PDd93/VVr8B8=',
  );
});

/** A bot's HTTP server, which answers with this TwiML. */
async function twimlServer(t: Test, body: (host: string) => { status?: number; text: string }) {
  const requests: Array<{ headers: Record<string, unknown>; fields: Record<string, string> }> = [];
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const fields = Object.fromEntries(new URLSearchParams(await text(request)));
    requests.push({ headers: request.headers, fields });
    const answer = body(String(request.headers.host));
    response.writeHead(answer.status ?? 200, { 'Content-Type': 'text/xml' }).end(answer.text);
  };
  const server = createServer((request, response) => void respond(request, response));
  return { url: `${await served(t, server)}/incoming`, requests };
}

t.test('a call is asked about, signed, and connected with the stream and its parameters', async (t) => {
  const bots = await botServer(t);
  const parameter = '<Parameter name="customer" value="42"/>';
  const server = await twimlServer(t, () => ({
    text: twiml(`<Connect><Stream url="${bots.url}">${parameter}</Stream></Connect>`),
  }));
  const phone = await bridged(t, rig, twimlBot({ url: server.url, authToken: 'secret' }));
  const { call } = await phone.ring();
  const bot = await until('the bot', () => bots.bots[0]);
  await until('start', () => bot.of({ event: 'start' }).length === 1);
  t.match(bot.of({ event: 'start' })[0]?.['start'], {
    customParameters: { customer: '42', from_number: FAR_END, to_number: phone.number },
  });
  const [request] = server.requests;
  t.match(request?.fields, {
    CallSid: call.call_id,
    AccountSid: phone.subscriptionId,
    From: FAR_END,
    To: phone.number,
    Direction: 'inbound',
    CallStatus: 'ringing',
  });
  t.equal(request?.headers['x-twilio-signature'], signatureOf('secret', server.url, request?.fields ?? {}));
  t.equal(request?.headers['content-type'], 'application/x-www-form-urlencoded;charset=UTF-8');
});

t.test('TwiML that rejects or is not supported: the call is not answered, with the reason', async (t) => {
  const answers: Array<[{ status?: number; text: string }, RegExp]> = [
    [{ text: twiml('<Reject/>') }, /^the TwiML of your app has <Reject>, so the call was rejected$/],
    [{ text: twiml('') }, /has no <Connect><Stream>, so the call was rejected$/],
    [{ text: twiml('<Gather/>') }, /<Gather>/],
    [{ status: 500, text: '\noops\nat line 1' }, /status 500: oops$/],
    [{ status: 500, text: '' }, /status 500$/],
    [{ text: `<Response>${' '.repeat(70_000)}</Response>` }, /longer than 64 KiB/],
  ];
  for (const [answer, words] of answers) {
    const server = await twimlServer(t, () => answer);
    const phone = await bridged(t, rig, twimlBot({ url: server.url }));
    phone.line.ring();
    t.match(await phone.end(), { connected: false, words });
    t.same([phone.node.commands('answer').length, phone.node.commands('hang_up').length], [0, 1]);
    t.equal(server.requests[0]?.headers['x-twilio-signature'], undefined);
  }
});
