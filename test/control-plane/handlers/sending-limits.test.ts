// Limits of a number: texts are refused at the limit, warned of before, at all instances together, whatever the holder deletes.
import t, { type Test } from 'tap';
import { jsonPost } from '../../fixtures/agents/json-post.ts';
import { received, subscriber } from '../../fixtures/agents/subscriber.ts';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';
import { openTestDatabase } from '../../fixtures/database/test-database.ts';
import { acceptAll, type Command, type ScriptedNodeOptions } from '../../fixtures/nodes/scripted-node.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig({ hasInstances: true });
const [MINUTE_MS, HOUR_MS] = [60_000, 3_600_000];
const DAY_MS = 24 * HOUR_MS;
const peer = (index: number): string => `+1310555${String(index).padStart(4, '0')}`;

type Limits = Partial<
  Pick<NonNullable<Parameters<typeof rig.start>[1]>, 'smsPerMinute' | 'smsPerDay' | 'segmentsMax'>
> &
  Record<string, number>;

async function setUp(t: Test, limits: Limits, node: ScriptedNodeOptions = {}) {
  const clock = new ManualClock();
  const service = { clock, heartbeatMs: 3_650 * DAY_MS, ...limits };
  const made = await subscriber(t, rig, { ...node, service });
  let count = 0;
  /** "sent", with the limits that it warned of, or the refusal. */
  const text = async (to = peer(1), body?: string) => {
    count += 1;
    const { body: answer, status } = await made.send({ to, body: body ?? `text ${count}` });
    if (status !== 200) return { status, ...answer };
    const warnings = (answer['warnings'] ?? []) as { limit: string; used: number; max: number }[];
    return warnings.map(({ limit, max, used }) => `${limit} ${used}/${max}`);
  };
  return { ...made, clock, text };
}

t.test(
  'texts a minute: a warning from 80 %, a refusal beyond, and none once the first has left',
  async (t) => {
    const { clock, node, text, url, headers, history } = await setUp(t, { smsPerMinute: 5 });
    for (let index = 0; index < 3; index += 1) {
      t.same(await text(), []);
      clock.advance(1_000);
    }
    t.same(await text(), ['messages_per_minute 4/5']);
    t.same(await text(), ['messages_per_minute 5/5']);
    const answer = await fetch(`${url}/sms/send`, jsonPost({ to: peer(1), body: 'one more' }, headers));
    t.equal(answer.status, 429);
    t.equal(answer.headers.get('retry-after'), '57');
    t.match(await answer.json(), {
      error: 'rate_limited',
      limit: 'messages_per_minute',
      used: 5,
      max: 5,
      message: /5 of 5 texts in a minute.*Try again in 57 s/,
    });
    t.equal(node.commands('send_sms').length, 5);
    t.equal((await history()).length, 5, 'nothing was recorded');
    clock.advance(56_999);
    t.match(await text(), { status: 429 });
    clock.advance(1);
    t.same(await text(), ['messages_per_minute 5/5']);
    t.match(await text(), { status: 429 });
  },
);

t.test('texts a day; deleting messages does not lift the limit', async (t) => {
  const { clock, text, url, headers } = await setUp(t, { smsPerDay: 2 });
  await text();
  clock.advance(HOUR_MS);
  await text();
  await fetch(`${url}/sms/messages`, { method: 'DELETE', headers });
  t.match(await text(), { status: 429, limit: 'messages_per_day', message: /Try again in 82800 s/ });
  clock.advance(DAY_MS - HOUR_MS);
  t.same(await text(), ['messages_per_day 2/2']);
});

t.test('recipients a day: known ones can still be texted', async (t) => {
  const { clock, text } = await setUp(t, { smsRecipientsPerDay: 3 });
  for (const index of [1, 2]) t.same(await text(peer(index)), []);
  clock.advance(HOUR_MS);
  t.same(await text(peer(3)), ['recipients_per_day 3/3']);
  t.same(await text(peer(1)), ['recipients_per_day 3/3']);
  t.match(await text(peer(4)), {
    status: 429,
    limit: 'recipients_per_day',
    // The second recipient got its last text an hour ago, the first one just now.
    message: /3 of 3 different recipients in 24 hours.*Try again in 82800 s/,
  });
  clock.advance(DAY_MS - HOUR_MS);
  t.same(await text(peer(4)), ['recipients_per_day 3/3']);
});

t.test('recipients of the same text, also in other letter case and spacing', async (t) => {
  const { text } = await setUp(t, { smsRepeatedPerDay: 2 });
  t.same(await text(peer(1), 'Buy now'), []);
  t.same(await text(peer(2), 'buy  NOW '), ['repeated_text_recipients_per_day 2/2']);
  t.match(await text(peer(3), 'BUY NOW'), { status: 429, limit: 'repeated_text_recipients_per_day' });
  t.same(await text(peer(3), 'How are you?'), []);
  t.same(await text(peer(1), 'Buy now'), ['repeated_text_recipients_per_day 2/2'], 'no other recipient');
});

t.test('texts without answers: each received one allows more', async (t) => {
  const { node, text } = await setUp(t, { smsUnansweredPerDay: 2, smsPerAnswer: 2 });
  await text();
  await text();
  t.match(await text(), { status: 429, limit: 'unanswered_per_day', used: 2, max: 2 });
  await node.report(received('an answer'));
  t.same(await text(), []);
  t.same(await text(), ['unanswered_per_day 4/4']);
  t.match(await text(), { status: 429, max: 4 });
});

t.test(
  'a text of several segments counts as so many; one that is longer than the limit still passes',
  async (t) => {
    const { clock, text } = await setUp(t, { smsPerMinute: 3, segmentsMax: 4 });
    t.same(await text(peer(1), 'a'.repeat(300)), []);
    t.match(await text(peer(1), 'b'.repeat(300)), { status: 429, used: 2 });
    t.same(await text(), ['messages_per_minute 3/3']);
    clock.advance(MINUTE_MS);
    t.same(await text(peer(1), 'c'.repeat(600)), ['messages_per_minute 4/3']);
  },
);

t.test('texts that no modem tried do not count', async (t) => {
  let isWilling = false;
  const onCommand = (command: Command) =>
    isWilling || command.name !== 'send_sms'
      ? acceptAll(command)
      : ({ type: 'refusal', id: command.id, code: 'slot_unavailable', message: 'gone' } as const);
  const { node, text } = await setUp(t, { smsPerDay: 1 }, { onCommand });
  for (let index = 0; index < 3; index += 1) t.match(await text(), { status: 502 });
  isWilling = true;
  t.same(await text(), ['messages_per_day 1/1']);
  await node.drop();
  t.match(await text(), { status: 429 });
});

t.test('many texts at once, at two instances: exactly the limit', async (t) => {
  const { databaseUrl, headers, node, url } = await setUp(t, { smsPerMinute: 10, smsRecipientsPerDay: 10 });
  const { url: other } = await rig.start(t, { databaseUrl, smsPerMinute: 10, smsRecipientsPerDay: 10 });
  const answers = await Promise.all(
    Array.from({ length: 60 }, async (_, index) => {
      const answer = await fetch(
        `${index % 2 === 0 ? url : other}/sms/send`,
        jsonPost({ to: peer(index), body: `text ${index}` }, headers),
      );
      return answer.status;
    }),
  );
  t.equal(answers.filter((status) => status === 200).length, 10);
  t.equal(answers.filter((status) => status === 429).length, 50);
  t.equal(node.commands('send_sms').length, 10);
});

t.test('housekeeping deletes what no longer counts; neither numbers nor texts are kept', async (t) => {
  const { clock, databaseUrl, text } = await setUp(t, { smsPerDay: 1 });
  const db = await openTestDatabase(t, databaseUrl);
  await text(peer(7), 'a secret');
  const rows = JSON.stringify(await db.selectFrom('recent_sends').selectAll().execute());
  t.notMatch(rows, /secret|3105550007/);
  t.match(await db.selectFrom('sending_warnings').selectAll().execute(), [{ used: 1, max: 1 }]);
  clock.advance(DAY_MS + HOUR_MS + MINUTE_MS);
  await until('they are gone', async () => {
    clock.advance(MINUTE_MS);
    const left = await db.selectFrom('recent_sends').selectAll().execute();
    const warnings = await db.selectFrom('sending_warnings').selectAll().execute();
    return left.length + warnings.length === 0;
  });
});
