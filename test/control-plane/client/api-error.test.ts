// Errors that a client makes of refusals, and of answers that are none.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import t from 'tap';
import { errorOfAnswer } from '#control-plane/client/api-error.ts';
import { SimrackClient } from '#control-plane/client/simrack-client.ts';
import { served } from '../../fixtures/network/served.ts';

t.test('Retry-After is a number of seconds, or a date, as proxies write it', async (t) => {
  const refusal = { error: 'rate_limited', message: 'Wait.' };
  t.match(errorOfAnswer(429, refusal, '7'), { code: 'rate_limited', retryAfterSeconds: 7 });
  const { retryAfterSeconds = 0 } = errorOfAnswer(
    503,
    undefined,
    new Date(Date.now() + 90_000).toUTCString(),
  );
  t.ok(retryAfterSeconds > 60 && retryAfterSeconds <= 90, `${retryAfterSeconds} s`);
  for (const header of [undefined, null, 'soon', 'Sat, 01 Jan 2000 00:00:00 GMT'])
    t.equal(errorOfAnswer(503, undefined, header).retryAfterSeconds, undefined, String(header));
});

t.test('an endless answer is read up to 16 MiB', async (t) => {
  const MIB = 1024 * 1024;
  let sent = 0;
  const stream = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const size = request.url === '/availability' ? 20 : 15;
    const closed = once(response, 'close');
    response.write('{"available": 1, "padding": "');
    for (sent = 0; sent < size && !response.destroyed; sent += 1) {
      if (response.write('x'.repeat(MIB))) continue;
      await Promise.race([once(response, 'drain'), closed]);
    }
    response.end('"}');
  };
  const server = createServer((request, response) => void stream(request, response));
  const url = await served(t, server);
  await t.rejects(new SimrackClient({ baseUrl: url }).availability(), {
    code: 'invalid_answer',
    message: '/availability: the response is longer than 16 MiB',
  });
  t.match(await new SimrackClient({ baseUrl: `${url}/whole` }).availability(), { available: 1 });
  t.equal(sent, 15);
});
