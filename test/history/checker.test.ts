// The checker against histories made by hand: a good one, and one for each thing that can be wrong.
import t from 'tap';
import { RULES, type Rule } from './checker/findings.ts';
import {
  alter,
  brokenRules,
  claim,
  disturb,
  type Example,
  exampleRun,
  expire,
  hear,
  receive,
  report,
  rowOf,
  send,
} from './example-run.ts';

const remove = (example: Example, key: string): void => {
  example.rows.splice(example.rows.indexOf(rowOf(example, key)), 1);
};
const unclaim = (example: Example, key: string): void => {
  const { id } = rowOf(example, key);
  example.claims[0] = (example.claims[0] ?? []).filter(
    ({ messages = [] }) => !messages.some((message) => message.id === id),
  );
};
const swapRows = (example: Example, one: string, two: string): void => {
  const places = [one, two].map((key) => example.rows.indexOf(rowOf(example, key)));
  const [first = 0, second = 0] = places;
  const [a, b] = [example.rows[first], example.rows[second]];
  if (a === undefined || b === undefined) throw new Error('no such rows');
  example.rows[first] = b;
  example.rows[second] = a;
  // Claimed in the order of the history.
  example.claims[0]?.sort(({ messages: [x] = [] }, { messages: [y] = [] }) => placeOf(x) - placeOf(y));
  function placeOf(message: { id: number } | undefined): number {
    return example.rows.findIndex(({ id }) => id === message?.id);
  }
};

/** The first of two parts that modem 1 sent to modem 0, and no more. */
function halfFromSim(example: Example): void {
  const [from, to] = ['+12065550101', '+12065550100'];
  const parts = ['o1#1:1/2 a', 'o1#1:2/2 b'];
  const text = parts.join('');
  example.outbound.set('o1#1', {
    key: 'o1#1',
    modem: 1,
    to,
    toModem: 0,
    text,
    parts,
    fromMs: 0,
    untilMs: 0,
    answer: { kind: 'refused', reason: 'cms_38' },
  });
  example.rows.push({
    id: 70,
    direction: 'sent',
    from,
    to,
    body: text,
    messageId: null,
    status: 'failed',
    createdAt: '2026-03-01T10:00:00.000Z',
    deliveredAt: null,
  });
  example.heard.push({ id: 80, atMs: example.heard[0]?.atMs ?? 0, from, to, body: 'o1#1:1/2 a' });
  reportHalf(example);
}

function reportHalf(example: Example): void {
  const row = report(example, { from: '+12065550101', body: 'o1#1:1/2 a', second: 90 });
  claim(example, [row], 90);
}

t.test('a good history breaks no rule', async (t) => {
  t.same(brokenRules(exampleRun()), []);
});

const SPOILED: ReadonlyArray<[claim: string, spoil: (example: Example) => void, broken: Rule[]]> = [
  [
    'a message that is not in the history is lost',
    (example) => {
      unclaim(example, 'i0.2#1');
      remove(example, 'i0.2#1');
    },
    ['lost'],
  ],
  [
    'one that no modem took is not delivered',
    (example) => {
      unclaim(example, 'i0.2#1');
      remove(example, 'i0.2#1');
      example.delivered.delete(1);
    },
    ['not_delivered'],
  ],
  [
    'one of two equal messages is missing',
    (example) => {
      receive(example, { key: 'i0.2#1', parts: ['i0.2#1:1/1 one'], id: 30, second: 20 });
      example.claims[0]?.pop();
      example.rows.pop();
    },
    ['lost'],
  ],
  [
    'a message is reported twice',
    (example) => claim(example, [report(example, { body: 'i0.2#2:1/1 two', second: 70 })], 70),
    ['doubled'],
  ],
  [
    'a long message is reported whole and in part',
    (example) => claim(example, [report(example, { body: 'i0.3#3:2/2 ends', second: 70 })], 70),
    ['partial'],
  ],
  [
    'a long message comes in parts although none is missing',
    (example) => {
      alter(example, 'i0.3#3', (row) => {
        row.body = 'i0.3#3:1/2 begins';
      });
    },
    ['lost', 'partial'],
  ],
  [
    'the only part of a message is reported twice',
    (example) => {
      halfFromSim(example);
      reportHalf(example);
    },
    ['part_doubled'],
  ],
  [
    'a text arrives with another end',
    (example) => {
      alter(example, 'i0.2#1', (row) => {
        row.body += '!';
      });
    },
    ['altered', 'lost'],
  ],
  [
    'a message arrives from another sender',
    (example) => {
      alter(example, 'i0.2#1', (row) => {
        row.from = '+14155550199';
      });
    },
    ['altered'],
  ],
  [
    'a message arrives that was never sent',
    (example) => claim(example, [report(example, { body: 'i9.9#9:1/1 hi', second: 70 })], 70),
    ['foreign'],
  ],
  [
    'a message is claimed twice',
    (example) => claim(example, [rowOf(example, 'i0.3#3')], 70),
    ['claimed_twice'],
  ],
  [
    'a claimed message has another text',
    (example) => {
      for (const message of example.claims[0]?.flatMap(({ messages = [] }) => messages) ?? [])
        message.digest += 1;
    },
    ['claim_altered'],
  ],
  ['a claim without an answer was not cut', (example) => unclaim(example, 'i0.2#1'), ['claim_lost']],
  [
    'a message cannot be claimed',
    (example) => {
      unclaim(example, 'i0.2#1');
      rowOf(example, 'i0.2#1').deliveredAt = null;
    },
    ['unclaimed'],
  ],
  [
    'claims come in another order than the history',
    (example) => example.claims[0]?.reverse(),
    ['claim_order'],
  ],
  ['a later message overtakes', (example) => swapRows(example, 'i0.2#1', 'i0.2#2'), ['order']],
  [
    'a later message overtakes after a kill',
    (example) => {
      disturb(example, { what: 'kill', target: 'node-daemon', second: 1, untilSecond: 4 });
      swapRows(example, 'i0.2#1', 'i0.2#2');
    },
    ['order'],
  ],
  ['a modem sends twice', (example) => hear(example, 'o0#1', 40, 8), ['sent_twice']],
  [
    'a modem sends to another number',
    (example) => {
      for (const segment of example.heard) segment.to = '+13105550199';
    },
    ['sent_altered'],
  ],
  [
    'a modem sends a text that no client asked for',
    (example) => hear(example, 'o0#77:1/1 hi', 40, 8),
    ['sent_foreign'],
  ],
  ['an answered send is not in the history', (example) => remove(example, 'o0#2'), ['row_missing']],
  [
    'a send is in the history twice',
    (example) => example.rows.push({ ...rowOf(example, 'o0#1'), id: 99 }),
    ['row_doubled'],
  ],
  [
    'an accepted send is not on the air',
    (example) => {
      example.heard.pop();
      rowOf(example, 'o0#1').status = 'queued';
    },
    ['accepted_not_sent'],
  ],
  [
    'an expired send was never on the air',
    (example) => expire(example, { isKilled: true, isHeard: false }),
    ['accepted_not_sent'],
  ],
  [
    'a part of an expired send is not on the air, although nothing was broken',
    (example) => expire(example, { isKilled: false, isHeard: true }),
    ['accepted_not_sent'],
  ],
  ['a failed send is on the air', (example) => hear(example, 'o0#2', 40, 9), ['failed_but_sent']],
  [
    'a send whose request was cut leaves no row and is on the air',
    (example) => {
      send(example, { key: 'o0#4', second: 70, status: '', answer: { kind: 'cut' } });
      example.rows.pop();
      hear(example, 'o0#4', 40, 70);
    },
    ['failed_but_sent'],
  ],
  [
    'a refused send counts as sent later',
    (example) => {
      hear(example, 'o0#2', 40, 9);
      Object.assign(rowOf(example, 'o0#2'), { status: 'sent', messageId: 'msg_2.8' });
    },
    ['answer_changed'],
  ],
  [
    'an accepted send has another id in the history',
    (example) => {
      rowOf(example, 'o0#1').messageId = 'msg_1.8';
    },
    ['answer_changed'],
  ],
  [
    'a send stays open',
    (example) => {
      rowOf(example, 'o0#3').status = 'sending';
    },
    ['unsettled'],
  ],
  [
    'a send is unknown although nothing was broken',
    (example) => example.disturbances.splice(0),
    ['unknown_without_cause'],
  ],
  [
    'a message expired although no report says so',
    (example) => {
      rowOf(example, 'o0#1').status = 'expired';
    },
    ['report_without_cause'],
  ],
  [
    'a message to a SIM is delivered that its modem did not take',
    (example) => {
      Object.assign(example.outbound.get('o0#1') ?? {}, { toModem: 1 });
      example.delivered.delete(11);
    },
    ['not_delivered', 'report_without_cause'],
  ],
  [
    'a report settles nothing',
    (example) => Object.assign(rowOf(example, 'o0#1'), { status: 'queued' }),
    ['report_ignored'],
  ],
  [
    'a node that holds no SIM is asked to send',
    (example) => example.rogueCommands.push('send_sms {}'),
    ['rogue_asked'],
  ],
  [
    'a call that was never made is in a list',
    (example) => Object.assign(example, { calls: 1 }),
    ['forged_call'],
  ],
];

for (const [title, spoil, broken] of SPOILED) {
  t.test(title, async (t) => {
    const example = exampleRun();
    spoil(example);
    t.same(brokenRules(example), broken);
  });
}

t.test('every rule can be broken', async (t) => {
  const breakable = new Set(SPOILED.flatMap(([, , broken]) => broken));
  t.same(
    Object.keys(RULES).filter((rule) => !breakable.has(rule as Rule)),
    [],
  );
});

const EXCUSED: ReadonlyArray<[claim: string, change: (example: Example) => void]> = [
  [
    'an announcement was lost: a later message may overtake',
    (example) => {
      disturb(example, { what: 'urc_lost', target: 0, second: 0, untilSecond: 2, mayReorder: true });
      swapRows(example, 'i0.2#1', 'i0.2#2');
    },
  ],
  [
    'a claim was cut: its messages are only in the history',
    (example) => {
      unclaim(example, 'i0.2#1');
      const claims = example.claims[0] ?? [];
      const [first] = claims;
      claims.unshift({
        fromMs: (first?.fromMs ?? 0) - 2_000,
        untilMs: first?.fromMs ?? 0,
        messages: undefined,
      });
    },
  ],
  [
    'two equal messages of one second in one place count as one',
    (example) => {
      receive(example, { key: 'i0.2#1', parts: ['i0.2#1:1/1 one'], id: 30, second: 1 });
      const [here, there] = [example.delivered.get(30), example.delivered.get(1)];
      if (here !== undefined) here.index = there?.index ?? null;
      example.claims[0]?.pop();
      example.rows.pop();
    },
  ],
  [
    'a message comes after the last claim',
    (example) => {
      receive(example, { key: 'i0.2#4', parts: ['i0.2#4:1/1 late'], id: 30, second: 20 });
      example.claims[0]?.pop();
      const row = example.rows.at(-1);
      if (row === undefined) throw new Error('no row');
      row.deliveredAt = null;
      example.claimedUntilMs = Date.parse(row.createdAt) - 10;
    },
  ],
  [
    'two equal messages come twice',
    (example) => receive(example, { key: 'i0.2#1', parts: ['i0.2#1:1/1 one'], id: 30, second: 20 }),
  ],
  ['an unknown send is on the air', (example) => hear(example, 'o0#3', 40, 61)],
  [
    'a send whose request was cut has no row',
    (example) => {
      send(example, { key: 'o0#4', second: 70, status: '', answer: { kind: 'cut' } });
      example.rows.pop();
    },
  ],
  [
    'a send that the service failed on has no row',
    (example) => {
      send(example, { key: 'o0#4', second: 70, status: '', answer: { kind: 'broken' } });
      example.rows.pop();
    },
  ],
  [
    'a report was lost in a kill',
    (example) => {
      send(example, { key: 'o0#4', id: 50, second: 62, status: 'queued', messageId: 'msg_4.1' });
    },
  ],
  [
    'a kill after the first of two parts, whose report says that it expired',
    (example) => expire(example, { isKilled: true, isHeard: true }),
  ],
  ['a message to a SIM is reported in part: the rest was never sent', (example) => halfFromSim(example)],
];

for (const [title, change] of EXCUSED) {
  t.test(title, async (t) => {
    const example = exampleRun();
    change(example);
    t.same(brokenRules(example), []);
  });
}
