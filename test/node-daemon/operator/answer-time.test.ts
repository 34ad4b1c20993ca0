// How long an operator command waits for the answer of the daemon.
import t from 'tap';
import { answerTimeMs } from '#node-daemon/operator/procedures/answer-time.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;

t.test('a command waits for the daemon as long as its request may take', async (t) => {
  const slot = 'm1';
  t.ok(answerTimeMs('slots', {}) <= 15 * SECOND_MS, 'a list is read from memory');
  t.ok(answerTimeMs('at', { slot, command: 'AT+CSQ' }) <= 90 * SECOND_MS, 'seconds');
  const search = answerTimeMs('at', { slot, command: 'AT+COPS=?' });
  t.ok(search > 4 * MINUTE_MS, 'a search of all bands takes three minutes, behind a message of one');
  t.equal(answerTimeMs('at', { slot, command: 'AT+CSQ', timeout_ms: 180_000 }), search, 'as asked for');
});

t.test('each further step adds its own time', async (t) => {
  const ussd = (...replies: string[]): number => answerTimeMs('ussd', { slot: 'm1', code: '*100#', replies });
  t.equal(ussd('1', '2') - ussd(), 2 * MINUTE_MS, 'each answer of the network may take a minute');
  const send = (text: string): number =>
    answerTimeMs('send', { slot: 'm1', id: 'operator_12345678', to: '+12065550123', text });
  t.equal(send('я'.repeat(134)) - send('я'), 2 * MINUTE_MS, 'and so may each segment');
});
