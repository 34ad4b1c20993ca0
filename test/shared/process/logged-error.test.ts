// Errors of the libraries we use, made by them: what a log gets of each.
import t from 'tap';
import { BaseError, HttpRequestError } from 'viem';
import { loggedError } from '#shared/process/logged-error.ts';

const TEXT = 'meet me at noon';

t.test('type, message, code and where it was thrown', async (t) => {
  const error = Object.assign(new RangeError('two\nlines'), { code: 'ERR_X', body: TEXT, password: TEXT });
  const logged = loggedError(error);
  t.match(logged, { type: 'RangeError', message: 'two\nlines', code: 'ERR_X' });
  t.match(logged.stack, /^ {4}at .*logged-error\.test\.ts/);
  t.notMatch(logged.stack, /two/);
  t.same(Object.keys(logged).sort(), ['code', 'message', 'stack', 'type']);
});

t.test('causes and the errors of an aggregate, without end', async (t) => {
  const root = new Error('root', { cause: TEXT });
  const error = new AggregateError([root], 'both', { cause: new Error('middle', { cause: root }) });
  t.match(loggedError(error), {
    message: 'both',
    errors: [{ message: 'root' }],
    cause: { message: 'middle', cause: { message: 'root' } },
  });
  const circle: Error & { cause?: unknown } = new Error('circle');
  circle.cause = circle;
  t.notMatch(JSON.stringify([loggedError(error), loggedError(circle)]), TEXT);
});

t.test('JSON that could not be read is not repeated', async (t) => {
  t.throws(() => JSON.parse(`{${TEXT}`));
  try {
    JSON.parse(TEXT);
  } catch (error) {
    t.match(String(error), 'meet me', 'as Node reports it');
    t.notMatch(JSON.stringify(loggedError(error)), 'meet me');
  }
});

t.test('the requests of viem are not logged', async (t) => {
  const error = new HttpRequestError({ url: 'https://rpc.test/key', body: { params: [TEXT] }, status: 500 });
  t.match(error.message, TEXT, 'as viem reports it');
  const outer = new BaseError('cannot send', { cause: error, metaMessages: [TEXT] });
  t.notMatch(JSON.stringify(loggedError(outer)), TEXT);
  t.match(loggedError(outer), { message: 'cannot send', cause: { type: 'HttpRequestError' } });
});

t.test('a thrown value that is not an Error is logged with its type', async (t) => {
  t.same(loggedError('text'), { type: 'string', message: 'text' });
  t.same(loggedError(undefined), { type: 'undefined', message: 'undefined' });
});
