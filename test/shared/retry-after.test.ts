// Retry-After in both of its forms; the dates are those of RFC 9110 §5.6.7.
import t from 'tap';
import { retryAfterMsOf } from '#shared/retry-after.ts';

const NOW = new Date('1994-11-06T08:49:07Z');

t.test('seconds and dates', async (t) => {
  t.equal(retryAfterMsOf('120', NOW), 120_000);
  t.equal(retryAfterMsOf('Sun, 06 Nov 1994 08:49:37 GMT', NOW), 30_000);
  t.equal(retryAfterMsOf('120'), 120_000, 'without a clock');
  t.equal(retryAfterMsOf('Sun, 06 Nov 1994 08:49:37 GMT'), undefined, 'without a clock');
  for (const header of [
    undefined,
    null,
    '',
    '0',
    '-5',
    'soon',
    'Sun, 06 Nov 1994 08:48:37 GMT',
    'Sun Nov  6 08:49:37 1994',
  ])
    t.equal(retryAfterMsOf(header, NOW), undefined, String(header));
});
