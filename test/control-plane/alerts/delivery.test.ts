// The delivery of alerts: each is sent once on each channel, whatever the other side does.
import { sql } from 'kysely';
import t from 'tap';
import { webhookSignatureOf } from '#control-plane/domain/webhook-signature.ts';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';
import { reportSlots } from '../../fixtures/database/number-pool.ts';
import { putNode, startAlerting } from '../../fixtures/service/alerting-service.ts';
import { mailBy, startMailServer } from '../../fixtures/service/mail-server.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { ofOneInstance } from '../../fixtures/service/several-instances.ts';
import { alertBy, startWebhookReceiver } from '../../fixtures/service/webhook-receiver.ts';

const TIMEOUT = { timeout: 300_000 };
const MINUTE_MS = 60_000;

const rig = await createRig({ hasInstances: true });

t.test('the signature is that of the specification', async (t) => {
  // The example of the Standard Webhooks reference libraries.
  const secret = Buffer.from('MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'base64');
  t.equal(
    webhookSignatureOf(secret, 'msg_p5jXN8AQM9LWM0D4loKWxJek', 1_614_265_330, '{"test": 2432232314}'),
    'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  );
});

t.test('a receiver that fails gets the same message again, until it takes it', TIMEOUT, async (t) => {
  const { db, hook, pass } = await startAlerting(t, rig);
  let left = 4;
  hook.reply = () => {
    left -= 1;
    return left >= 0 ? { status: 500 } : { status: 200 };
  };
  await putNode(db, 'rack-1', false);
  await pass(2 * MINUTE_MS);
  await putNode(db, 'rack-1');
  await pass(10 * MINUTE_MS);
  t.same(hook.reported(), ['+node_offline rack-1', '-node_offline rack-1']);
  t.equal(hook.asked.length, 6);
  t.equal(new Set(hook.asked.slice(0, 5).map((webhook) => JSON.stringify(webhook))).size, 1, 'to the letter');
  t.not(hook.asked[4]?.id, hook.asked[5]?.id);
});

t.test('a message that is sent again has its first content, whatever happened since', TIMEOUT, async (t) => {
  const mail = await startMailServer(t);
  const { db, hook, pass } = await startAlerting(t, rig, {
    ...mailBy(mail),
    alertMailTo: 'ops@example.org',
  });
  const refused: string[] = [];
  mail.script = {
    onMail: ({ email }) => {
      refused.push(String(email.text));
      return '451 4.3.0 later';
    },
  };
  hook.reply = () => ({ status: 500 });
  await putNode(db, 'rack-1');
  const full = (used: number) =>
    sql`
    insert into sims (iccid, node_id, slot, state, updated_at, storage_used, storage_total)
    values ('8901', 'rack-1', 'm1', 'registered', now(), ${used}, 20)
    on conflict (iccid) do update set storage_used = ${used}`.execute(db);
  await full(16);
  await reportSlots(db);
  await pass(2 * MINUTE_MS);
  await full(20);
  await pass(2 * MINUTE_MS);
  const bodies = hook.asked.map((webhook) => JSON.stringify(webhook));
  t.ok(bodies.length >= 3 && refused.length >= 3, `${bodies.length} webhooks, ${refused.length} mails`);
  t.equal(new Set(bodies).size, 1, 'to the letter');
  t.equal(new Set(refused).size, 1, 'to the letter');
  t.match(refused[0], /warning: the message storage .* 16 of 20/);
  hook.reply = () => ({ status: 200 });
  mail.script = {};
  await pass(10 * MINUTE_MS);
  t.same(hook.reported(), ['+storage_full rack-1/m1', '!storage_full rack-1/m1']);
  t.same(
    mail.taken.map(({ email }) => email.subject),
    [
      'Simrack: the message storage of slot m1 of node rack-1 has 16 of 20 places in use',
      'Simrack: CRITICAL: the message storage of slot m1 of node rack-1 has 20 of 20 places in use',
    ],
  );
  t.match(mail.taken[1]?.email.text, /Now critical:\n\n- 20\S+ critical: .* 20 of 20/);
  await full(0);
  await pass(6 * MINUTE_MS);
  t.equal(hook.reported().at(-1), '-storage_full rack-1/m1');
});

t.test(
  'an alert that begins and ends while a message waits is never sent; the rest arrives as one message',
  TIMEOUT,
  async (t) => {
    const { db, hook, pass } = await startAlerting(t, rig);
    hook.reply = () => ({ status: 503, headers: { 'Retry-After': '600' } });
    await putNode(db, 'rack-1', false);
    await pass(MINUTE_MS);
    t.equal(hook.asked.length, 1);
    await putNode(db, 'rack-2', false);
    await pass(2 * MINUTE_MS);
    await putNode(db, 'rack-2');
    for (const id of ['rack-3', 'rack-4']) await putNode(db, id, false);
    await pass(2 * MINUTE_MS);
    t.equal(hook.asked.length, 1, 'it asked to be left alone');
    hook.reply = () => ({ status: 200 });
    await pass(8 * MINUTE_MS);
    t.same(hook.reported(), ['+node_offline rack-1', '+node_offline rack-3', '+node_offline rack-4']);
    t.equal(hook.taken.length, 2);
  },
);

t.test(
  'a receiver that never accepts: the message is given up after a day, and the end of its alert is not sent',
  TIMEOUT,
  async (t) => {
    const { db, hook, pass, clock } = await startAlerting(t, rig);
    hook.reply = () => ({ status: 404 });
    await putNode(db, 'rack-1', false);
    await pass(MINUTE_MS);
    const isOpen = async () =>
      (await db.selectFrom('alert_messages').select('id').where('state', '=', 'open').execute()).length > 0;
    const startedMs = clock.now();
    while (await isOpen()) {
      clock.advance(15 * MINUTE_MS);
      await pass(20_000);
      if (hook.asked.length > 200) throw new Error('it is never given up');
    }
    t.equal(hook.asked.length, 100);
    t.ok(clock.now() - startedMs > 24 * 60 * MINUTE_MS);
    hook.reply = () => ({ status: 200 });
    await putNode(db, 'rack-1');
    await putNode(db, 'rack-2', false);
    await pass(5 * MINUTE_MS);
    t.same(hook.reported(), ['+node_offline rack-2']);
  },
);

const ENDS = {
  ...TIMEOUT,
  skip: ofOneInstance('a receiver that is gone is gone for each instance that asked it'),
};

t.test('redirects are not followed; 410 ends it until the next start', ENDS, async (t) => {
  const elsewhere = await startWebhookReceiver(t);
  const { databaseUrl, db, hook, pass, stop } = await startAlerting(t, rig);
  hook.reply = () => ({ status: 307, headers: { Location: elsewhere.url } });
  await putNode(db, 'rack-1', false);
  await pass(MINUTE_MS);
  t.ok(hook.asked.length > 0);
  t.same(elsewhere.asked, []);
  hook.reply = () => ({ status: 410 });
  await pass(2 * MINUTE_MS);
  const asked = hook.asked.length;
  await putNode(db, 'rack-2', false);
  await pass(5 * MINUTE_MS);
  t.equal(hook.asked.length, asked, 'it is left alone');
  await stop();
  hook.reply = () => ({ status: 200 });
  const next = await startAlerting(t, rig, { hook, databaseUrl });
  await next.pass(MINUTE_MS);
  t.same(hook.reported(), ['+node_offline rack-2']);
});

t.test(
  'two instances send each alert once, and one continues where the other stopped',
  TIMEOUT,
  async (t) => {
    const first = await startAlerting(t, rig);
    const { databaseUrl, db, hook } = first;
    const second = await startAlerting(t, rig, { hook, databaseUrl });
    const passBoth = (ms: number) => Promise.all([first.pass(ms), second.pass(ms)]);
    const ids = Array.from({ length: 300 }, (_, index) => `rack-${index}`);
    for (const id of ids) await putNode(db, id, false);
    await passBoth(2 * MINUTE_MS);
    t.same(hook.reported().sort(), ids.map((id) => `+node_offline ${id}`).sort());
    t.ok(hook.taken.length <= 3, `${hook.taken.length} messages for 300 alerts`);
    await first.stop();
    for (const id of ids.slice(0, 2)) await putNode(db, id);
    await second.pass(2 * MINUTE_MS);
    t.same(hook.reported().slice(300), ['-node_offline rack-0', '-node_offline rack-1']);
  },
);

t.test('by mail, too: each channel by itself', TIMEOUT, async (t) => {
  const mail = await startMailServer(t);
  const { db, hook, pass } = await startAlerting(t, rig, {
    ...mailBy(mail),
    alertMailTo: 'ops@example.org',
    environment: 'lab',
  });
  hook.reply = () => ({ status: 500 });
  await putNode(db, 'rack-1', false);
  await putNode(db, 'rack-2', false);
  await pass(2 * MINUTE_MS);
  await putNode(db, 'rack-1');
  await pass(2 * MINUTE_MS);
  t.same(
    mail.taken.map(({ to, email }) => [to, email.subject]),
    [
      ['ops@example.org', 'Simrack: CRITICAL: node rack-1 is offline; it has no SIM, and 1 more'],
      ['ops@example.org', 'Simrack: over: node rack-1 is offline; it has no SIM'],
    ],
  );
  const [raised, over] = mail.taken;
  t.match(
    raised?.email.text,
    /New problems:.*rack-1 is offline.*power and the network.*rack-2.*Sent by "lab"/s,
  );
  t.match(over?.email.text, /Resolved:.*over: node rack-1 is offline/s);
  t.match(raised?.messageId, /^<msg_[0-9a-f]{24}@numbers\.test>$/);
  t.equal(raised?.headers.get('auto-submitted'), 'auto-generated');
});

t.test('a mail server that hangs up with the mail in hand gets three, as one', TIMEOUT, async (t) => {
  const mail = await startMailServer(t);
  const { db, pass } = await startAlerting(t, rig, {
    ...mailBy(mail),
    alertMailTo: 'ops@example.org',
    alertWebhookUrl: undefined,
    alertWebhookSecret: undefined,
  });
  const ids: string[] = [];
  mail.script = {
    onMail: ({ messageId }) => {
      ids.push(messageId);
      mail.cut();
      return undefined;
    },
  };
  await putNode(db, 'rack-1', false);
  await pass(10 * MINUTE_MS);
  t.equal(ids.length, 3);
  t.equal(new Set(ids).size, 1);
  mail.script = {};
  await putNode(db, 'rack-1');
  await pass(2 * MINUTE_MS);
  t.match(mail.taken.at(-1)?.email.subject, 'over: node rack-1');
});

t.test('a new channel gets the open alerts, and none from before', TIMEOUT, async (t) => {
  const none = { alertWebhookUrl: undefined, alertWebhookSecret: undefined };
  const { databaseUrl, db, hook, pass, stop } = await startAlerting(t, rig, none);
  await putNode(db, 'rack-1', false);
  await putNode(db, 'rack-2', false);
  await pass(2 * MINUTE_MS);
  await putNode(db, 'rack-2');
  await pass(2 * MINUTE_MS);
  t.same(hook.asked, []);
  await stop();
  const clock = new ManualClock();
  const next = await startAlerting(t, rig, { clock, databaseUrl, hook, ...alertBy(hook) });
  await next.pass(2 * MINUTE_MS);
  t.same(hook.reported(), ['+node_offline rack-1']);
});
