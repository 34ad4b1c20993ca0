// The command in flight: every state with every kind of input.
import t from 'tap';
import { atCommand, atQuery } from '#node-daemon/at/command.ts';
import {
  beginExchange,
  type ExchangeInput,
  type ExchangeState,
  type ExchangeStep,
  INFORMATION_MAX,
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
const read = atCommand('AT+CMGR=1', { answer: /^\+CMGR:/, bodyAfter: /^\+CMGR:/ });

t.test('awaitingFinal', async (t) => {
  t.test('takes its information responses and ends with the final code', async (t) => {
    const { state, urcs } = feed(beginExchange(query), line('+CSQ: 21,99'), line('OK'));
    t.same(state, {
      kind: 'done',
      result: {
        kind: 'final',
        final: { kind: 'ok' },
        doubtful: false,
        information: [{ line: '+CSQ: 21,99' }],
      },
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
    t.same(feed(beginExchange(query), line('\x1bAT+CSQ')).urcs, [], 'with the ESC before it');
    t.same(feed(beginExchange(query), line('AT+COPS?')).urcs, ['AT+COPS?']);
  });
  t.test('an OK without the answer that it must have is the late answer of another command', async (t) => {
    const { state } = feed(beginExchange(query), line('OK'), line('+CSQ: 9,99'), line('OK'));
    t.match(state, { kind: 'done', result: { information: [{ line: '+CSQ: 9,99' }] } });
    t.match(feed(beginExchange(simple), line('OK')).state, { kind: 'done' });
  });
  t.test('after such an OK the answer must come soon, or there is none', async (t) => {
    const early = stepExchange(beginExchange(query), line('OK'));
    t.equal(early.hurry, true);
    t.match(stepExchange(early.state, { kind: 'closed' }).state, { result: { kind: 'timeout' } });
    t.match(stepExchange(early.state, TIMEOUT).state, {
      result: { kind: 'final', final: { kind: 'ok' }, information: [], doubtful: true },
    });
    const sent = stepExchange(stepExchange(beginExchange(submit), PROMPT).state, line('OK'));
    t.equal(sent.hurry, undefined, 'a message without its reference is not known to be sent');
    t.match(stepExchange(sent.state, TIMEOUT).state, { result: { kind: 'timeout' }, bodyGiven: true });
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
  t.test('an unrequested prompt is left with ESC, and the command counts as swallowed', async (t) => {
    const { state, writes, urcs } = feed(beginExchange(simple), PROMPT, line('OK'));
    t.same(writes, ['escape']);
    t.match(state, { kind: 'done', result: { kind: 'swallowed' } });
    t.same(urcs, ['OK'], 'the OK is the answer to ESC');
  });
  t.test('of several answers to a query that has one the last counts, the others are URCs', async (t) => {
    const asked = atQuery('AT+CPIN?', '+CPIN:');
    const { state, urcs } = feed(
      beginExchange(asked),
      line('+CPIN: NOT READY'),
      line('+CPIN: READY'),
      line('OK'),
    );
    t.same(urcs, ['+CPIN: NOT READY']);
    t.match(state, { result: { information: [{ line: '+CPIN: READY' }] } });
  });
  t.test('an answer without end is bounded', async (t) => {
    const list = atCommand('AT+CMGL=4', { answer: /^\+CMGL:/, bodyAfter: /^\+CMGL:/ });
    const lines = Array.from({ length: INFORMATION_MAX + 9 }, (_, index) => line(`+CMGL: ${index},1,,24`));
    const { state } = feed(beginExchange(list), ...lines, line('OK'));
    t.ok(state.kind === 'done' && state.result.kind === 'final');
    if (state.kind === 'done' && state.result.kind === 'final') {
      t.equal(state.result.information.length, INFORMATION_MAX);
    }
  });
  t.test('call codes end call commands and no others', async (t) => {
    const dial = atCommand('ATD+12065550100;', { endsLikeCall: true });
    for (const code of ['NO CARRIER', 'BUSY', 'NO ANSWER', 'NO DIALTONE', 'CONNECT', 'CONNECT 9600']) {
      const result = code.replace(/ 9600$/, '');
      t.match(feed(beginExchange(dial), line(code)).state, {
        result: { final: { kind: 'call', result } },
      });
      const other = feed(beginExchange(query), line(code), line('+CSQ: 1,99'), line('OK'));
      t.same(other.urcs, [code]);
      t.match(other.state, { result: { final: { kind: 'ok' } } });
    }
  });
  t.test(
    'an answer that trails on the line of an error is an answer, and nothing is sure after it',
    async (t) => {
      const number = atCommand('AT+CNUM', { answer: /^\+CNUM:/, answerMayTrail: true });
      for (const error of ['ERROR', '+CME ERROR: 25']) {
        t.match(feed(beginExchange(number), line(`${error}+CNUM: "","+33671651906",145`)).state, {
          result: {
            final: { kind: 'ok' },
            doubtful: true,
            information: [{ line: '+CNUM: "","+33671651906",145' }],
          },
        });
      }
      t.match(feed(beginExchange(query), line('ERROR+CNUM:')).state, {
        result: { final: { kind: 'error' }, doubtful: true },
      });
    },
  );
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
  t.test('no body follows the answer of another command on its line', async (t) => {
    const joined = atCommand('AT+CPMS="ME";+CMGR=1', { answer: /^\+CPMS:|^\+CMGR:/, bodyAfter: /^\+CMGR:/ });
    const choice = '+CPMS: 1,255,0,255,0,255';
    const texts = [choice, '0791CD', head, '0791AB', 'OK'];
    const { state, urcs } = feed(beginExchange(joined), ...texts.map(line));
    t.same(urcs, ['0791CD']);
    t.match(state, { result: { information: [{ line: choice }, { line: head, body: '0791AB' }] } });
  });
  t.test('does without one: an empty place', async (t) => {
    const { state } = feed(beginExchange(read), line('+CMGR: 0,,0'), line('OK'));
    t.strictSame(state, {
      kind: 'done',
      result: {
        kind: 'final',
        final: { kind: 'ok' },
        doubtful: false,
        information: [{ line: '+CMGR: 0,,0' }],
      },
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
