// Errors that a client makes of refusals.
import t from 'tap';
import { errorOfAnswer } from '#control-plane/client/api-error.ts';

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
