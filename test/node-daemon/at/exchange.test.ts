// The command in flight: every state with every kind of input.
import t from 'tap';
import { atCommand, atQuery } from '#node-daemon/at/command.ts';
import {
  beginExchange,
  type ExchangeInput,
  type ExchangeState,
  type ExchangeStep,
  stepExchange,
} from '#node-daemon/at/exchange.ts';

const line = (text: string): ExchangeInput => ({ kind: 'line', text });
const PROMPT: ExchangeInput = { kind: 'prompt' };
const TIMEOUT: ExchangeInput = { kind: 'timeout' };

/** Feeds inputs; returns the last step and all URCs and writes on the way. */
function feed(state: ExchangeState, ...inputs: ExchangeInput[]) {
  const urcs: string[] = [];
  const writes: string[] = [];
  let step: ExchangeStep = { state };
  for (const input of inputs) {
    step = stepExchange(step.state, input);
    if (step.urc !== undefined) urcs.push(step.urc);
    if (step.write !== undefined) writes.push(step.write);
  }
  return { state: step.state, urcs, writes };
}

const query = atQuery('AT+CSQ', '+CSQ:');
const simple = atCommand('AT+CMGF=0');
const submit = atQuery('AT+CMGS=15', '+CMGS:', { body: '0011' });
const read = atCommand('AT+CMGR=1', { answer: /^\+CMGR:/, answerHasBody: true });

t.test('awaitingFinal', async (t) => {
  t.test('takes its information responses and ends with the final code', async (t) => {
    const { state, urcs } = feed(beginExchange(query), line('+CSQ: 21,99'), line('OK'));
    t.same(state, {
      kind: 'done',
      result: { kind: 'final', final: { kind: 'ok' }, information: [{ line: '+CSQ: 21,99' }] },
      bodyGiven: false,
    });
    t.same(urcs, []);
  });
  t.test('passes on a URC in the middle of the answer and keeps the answer', async (t) => {
    const { state, urcs } = feed(
      beginExchange(query),
      line('+CMTI: "SM",1'),
      line('+CSQ: 1,99'),
      line('RING'),
      line('OK'),
    );
    t.same(urcs, ['+CMTI: "SM",1', 'RING']);
    t.match(state, { kind: 'done', result: { information: [{ line: '+CSQ: 1,99' }] } });
  });
  t.test('swallows its echo, not that of another command', async (t) => {
    t.same(feed(beginExchange(query), line('AT+CSQ')).urcs, []);
    t.same(feed(beginExchange(query), line('AT+COPS?')).urcs, ['AT+COPS?']);
  });
  t.test('an OK without the answer that it must have is the late answer of another command', async (t) => {
    const { state } = feed(beginExchange(query), line('OK'), line('+CSQ: 9,99'), line('OK'));
    t.match(state, { kind: 'done', result: { information: [{ line: '+CSQ: 9,99' }] } });
    t.match(feed(beginExchange(simple), line('OK')).state, { kind: 'done' });
  });
  t.test('each error ends it', async (t) => {
    for (const text of ['ERROR', '+CME ERROR: 4', '+CMS ERROR: 321']) {
      t.match(
        feed(beginExchange(query), line(text)).state,
        { kind: 'done', result: { kind: 'final' } },
        text,
      );
    }
  });
  t.test('a prompt that nobody asked for is left with ESC', async (t) => {
    const { state, writes } = feed(beginExchange(query), PROMPT);
    t.same(writes, ['escape']);
    t.equal(state.kind, 'awaitingFinal');
  });
  t.test('a time-out ends it', async (t) => {
    t.same(feed(beginExchange(query), TIMEOUT).state, {
      kind: 'done',
      result: { kind: 'timeout', phase: 'final' },
      bodyGiven: false,
    });
  });
});

t.test('an information response with a body', async (t) => {
  const head = '+CMGR: 0,,24';
  t.test('takes the hexadecimal line after it', async (t) => {
    const { state } = feed(beginExchange(read), line(head), line('0791AB'), line('OK'));
    t.match(state, { result: { information: [{ line: head, body: '0791AB' }] } });
  });
  t.test('lets a URC between head and body pass', async (t) => {
    const { state, urcs } = feed(beginExchange(read), line(head), line('RING'), line('0791AB'), line('OK'));
    t.same(urcs, ['RING']);
    t.match(state, { result: { information: [{ line: head, body: '0791AB' }] } });
  });
  t.test('does without one: an empty place', async (t) => {
    const { state } = feed(beginExchange(read), line('+CMGR: 0,,0'), line('OK'));
    t.strictSame(state, {
      kind: 'done',
      result: { kind: 'final', final: { kind: 'ok' }, information: [{ line: '+CMGR: 0,,0' }] },
      bodyGiven: false,
    });
  });
});

t.test('awaitingPrompt', async (t) => {
  t.test('gives the body at the prompt and then awaits the final code', async (t) => {
    const given = feed(beginExchange(submit), line('AT+CMGS=15'), PROMPT);
    t.same(given.writes, ['body']);
    const { state, urcs } = feed(given.state, line('0011\x1a'), line('+CMGS: 7'), line('OK'));
    t.same(urcs, [], 'the echo of the body is none');
    t.match(state, { kind: 'done', bodyGiven: true, result: { information: [{ line: '+CMGS: 7' }] } });
  });
  t.test('an OK is the late answer of another command', async (t) => {
    t.equal(feed(beginExchange(submit), line('OK')).state.kind, 'awaitingPrompt');
  });
  t.test('an error ends it before the body was given', async (t) => {
    t.match(feed(beginExchange(submit), line('+CMS ERROR: 331')).state, { kind: 'done', bodyGiven: false });
  });
  t.test('an error after the body says that it was given', async (t) => {
    t.match(feed(beginExchange(submit), PROMPT, line('+CMS ERROR: 38')).state, {
      kind: 'done',
      bodyGiven: true,
    });
  });
  t.test('a time-out says in which phase', async (t) => {
    t.match(feed(beginExchange(submit), TIMEOUT).state, {
      bodyGiven: false,
      result: { kind: 'timeout', phase: 'prompt' },
    });
    t.match(feed(beginExchange(submit), PROMPT, TIMEOUT).state, {
      bodyGiven: true,
      result: { kind: 'timeout', phase: 'final' },
    });
  });
  t.test('other lines are URCs, also those that would answer later', async (t) => {
    t.same(feed(beginExchange(submit), line('+CMGS: 6')).urcs, ['+CMGS: 6']);
  });
});

t.test('done takes nothing in', async (t) => {
  const { state } = feed(beginExchange(simple), line('OK'));
  t.same(feed(state, line('OK')).urcs, ['OK']);
  t.same(feed(state, PROMPT).writes, ['escape']);
  t.equal(feed(state, TIMEOUT).state, state);
});
