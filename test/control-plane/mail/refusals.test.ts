// The answers of an SMTP server, and their effect on the people who wait for the mail.
import t from 'tap';
import { MINUTE_MS } from '../../fixtures/service/housekeeping.ts';
import {
  type MailServer,
  type MailServerScript,
  mailBy,
  startMailServer,
} from '../../fixtures/service/mail-server.ts';
import { join, recipientsOf, startMailing } from '../../fixtures/service/mailing-service.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig();
const QUARTER_MS = 15 * MINUTE_MS;
const HOUR_MS = 60 * MINUTE_MS;
const WEEK_MS = 7 * 24 * 60 * MINUTE_MS;

t.test('a temporary refusal is tried again, later and later', async (t) => {
  let answers = ['451 4.7.1 <ann@example.org>: greylisted', '450 4.2.2 ann@example.org is full', undefined];
  const script: MailServerScript = {
    onRecipient: (address) => (address.startsWith('ann') ? answers.shift() : undefined),
  };
  const { url, mail, pool, pass, logged } = await startMailing(t, rig, script);
  await join(url, 'ann');
  await join(url, 'bob');
  await pool.setOnSale(true);
  await pass();
  t.same(recipientsOf(mail), ['bob'], 'others do not wait');
  const attempts = (): number => mail.recipients.filter((address) => address.startsWith('ann')).length;
  const minutes: number[] = [];
  for (let minute = 1; minute <= 5; minute += 1) {
    const before = attempts();
    await pass();
    if (attempts() > before) minutes.push(minute);
  }
  t.same(minutes, [1, 3], 'after a minute, and two more');
  t.same(recipientsOf(mail), ['ann', 'bob']);

  answers = Array.from({ length: 1_000 }, () => '452 4.2.2 still full');
  await join(url, 'ann');
  await pool.setOnSale(false);
  await pass(1, WEEK_MS);
  await pool.setOnSale(true);
  const before = attempts();
  await pass(24, HOUR_MS);
  t.equal(attempts() - before, 12, 'a day of it');
  answers = [];
  await pass(4, QUARTER_MS);
  t.equal(attempts() - before, 12, 'the next opening is mailed');
  await pool.setOnSale(false);
  await pass();
  await pool.setOnSale(true);
  await pass();
  t.same(recipientsOf(mail), ['ann', 'ann', 'bob']);
  t.equal(new Set(mail.taken.map(({ messageId }) => messageId)).size, 3);
  t.ok(logged.some((line) => line.includes('4.7.1')));
  t.notMatch(logged.join(''), /@example|ann@/i, 'no address is in the log');
});

t.test(
  'an invalid address is not tried again, and a mail that is refused for good is not sent again',
  async (t) => {
    const replies: Record<string, string> = {
      gone: '550 5.1.1 <gone@example.org>: unknown',
      plain: '553 no such user plain@example.org',
      policy: '554 5.7.1 <policy@example.org>: relay access denied',
    };
    const { url, mail, pool, pass, logged } = await startMailing(t, rig, {
      onRecipient: (address) => replies[address.replace(/@.*/, '')],
      onMail: ({ to }) => (to.startsWith('spam') ? '554 5.7.1 spam@example.org wants no spam' : undefined),
    });
    const names = ['gone', 'plain', 'policy', 'spam', 'ann'];
    await join(url, ...names);
    const reopen = async (): Promise<void> => {
      await pool.setOnSale(false);
      await pass();
      await pool.setOnSale(true);
      await pass(3);
    };
    await reopen();
    await pass(4, QUARTER_MS);
    const counts = (): Record<string, number> =>
      Object.fromEntries(
        names.map((name) => [name, mail.recipients.filter((to) => to.startsWith(name)).length]),
      );
    t.same(counts(), { gone: 1, plain: 1, policy: 1, spam: 1, ann: 1 });
    t.same(recipientsOf(mail), ['ann']);
    await reopen();
    t.same(counts(), { gone: 1, plain: 1, policy: 2, spam: 2, ann: 1 });
    await join(url, 'gone');
    await pass(3);
    t.equal(counts()['gone'], 1);
    delete replies['gone'];
    await reopen();
    t.same(recipientsOf(mail), ['ann', 'gone'], 'an address that registers again is tried again');
    t.notMatch(logged.join(''), /@example/i, 'no address is in the log');
  },
);

t.test('a server that is away, or refuses our sender, loses no mail', async (t) => {
  const script: MailServerScript = { onConnect: () => '421 4.3.2 closed for today' };
  const { url, mail, pool, pass } = await startMailing(t, rig, script);
  await join(url, 'ann', 'bob');
  await pool.setOnSale(true);
  await pass(20, 3 * MINUTE_MS);
  t.ok(mail.connections() >= 4 && mail.connections() <= 8, `asked ${mail.connections()} times in an hour`);
  mail.script = { onSender: () => '550 5.7.1 hello@numbers.test may not send from there' };
  await pass(20, 3 * MINUTE_MS);
  t.same(mail.recipients, []);
  mail.script = {};
  await pass(15);
  t.same(recipientsOf(mail), ['ann', 'bob']);
});

for (const [how, end] of [
  ['says 421', () => '421 4.7.0 <ann@example.org>: try later'],
  ['cuts the connection', (mail: MailServer) => void mail.cut()],
] as const) {
  t.test(`a server that ${how} for one address delays no other`, async (t) => {
    const { url, mail, pool, pass, logged } = await startMailing(t, rig);
    let isPicky = true;
    mail.script = {
      onRecipient: (address) => (isPicky && address.startsWith('ann') ? end(mail) : undefined),
    };
    await join(url, 'ann');
    await join(url, 'bob');
    await join(url, 'eve');
    await pool.setOnSale(true);
    await pass();
    t.same(recipientsOf(mail), ['bob', 'eve'], 'in the same round');
    const attempts = (): number => mail.recipients.filter((address) => address.startsWith('ann')).length;
    const before = attempts();
    await pass(24, HOUR_MS);
    t.equal(before, 1);
    t.equal(attempts(), 12, 'not for ever');
    isPicky = false;
    await join(url, 'zoe');
    await pool.setOnSale(false);
    await pass();
    await pool.setOnSale(true);
    await pass();
    t.same(recipientsOf(mail), ['ann', 'bob', 'eve', 'zoe'], 'the next opening is mailed');
    t.notMatch(logged.join(''), /@example|ann@/i, 'no address is in the log');
  });

  t.test(`a server that ${how} for every address gets few connections`, async (t) => {
    const { url, mail, pool, pass } = await startMailing(t, rig);
    mail.script = { onRecipient: () => end(mail) };
    const names = Array.from({ length: 20 }, (_, index) => `p${String(index).padStart(2, '0')}`);
    await join(url, ...names);
    await pool.setOnSale(true);
    await pass();
    t.equal(mail.connections(), 3);
    await pass(20, 3 * MINUTE_MS);
    t.ok(mail.connections() >= 9 && mail.connections() <= 24, `${mail.connections()} in an hour`);
    mail.script = {};
    await pass(8, QUARTER_MS);
    t.same(recipientsOf(mail), names, 'each gets its mail once the server is well');
  });
}

t.test('a connection that breaks in a mail is not tried for ever', async (t) => {
  const { url, mail, pool, pass } = await startMailing(t, rig, {
    onMail: ({ to }) => {
      if (to.startsWith('ann')) mail.cut();
      return undefined;
    },
  });
  await join(url, 'ann');
  await join(url, 'bob');
  await pool.setOnSale(true);
  await pass(24, HOUR_MS);
  const [ann, bob] = ['ann', 'bob'].map((name) => mail.taken.filter(({ to }) => to.startsWith(name)));
  t.equal(ann?.length, 3, 'it is not known whether it was accepted');
  t.equal(new Set(ann?.map(({ messageId }) => messageId)).size, 1);
  t.equal(bob?.length, 1);
});

t.test('a user name and a password are sent to a server that asks for them', async (t) => {
  const credentials = { user: 'shop@numbers.test', pass: 'p:a/s%s' };
  const mail = await startMailServer(t, { credentials });
  const { url, pool, pass } = await startMailing(t, rig, {}, mailBy(mail, credentials));
  await join(url, 'ann');
  await pool.setOnSale(true);
  await pass();
  t.same(recipientsOf(mail), ['ann']);
});

t.test('a password does not go over a network in the clear', async (t) => {
  const credentials = { user: 'shop', pass: 'secret' };
  const mail = await startMailServer(t, { credentials });
  // On Linux it leads to this machine, and does not look so.
  const smtpUrl = { ...mailBy(mail, credentials).smtpUrl, host: '0.0.0.0' };
  const { url, pool, pass } = await startMailing(t, rig, {}, { ...mailBy(mail), smtpUrl });
  await join(url, 'ann');
  await pool.setOnSale(true);
  await pass();
  t.equal(mail.connections(), 1);
  t.same([mail.signIns, mail.taken], [[], []]);
});

t.test('a stop waits only some seconds for a silent server', async (t) => {
  const hanging = new Promise<string | undefined>(() => undefined);
  const { url, service, mail, pool, clock } = await startMailing(t, rig, { onMail: () => hanging });
  await join(url, 'ann');
  await pool.setOnSale(true);
  clock.advance(MINUTE_MS);
  await until('a mail is under way', () => mail.recipients.length === 1);
  // By the clock of the service, which runs while it stops.
  const begun = clock.now();
  await service.stop();
  t.ok(clock.now() - begun < 8_000, `${clock.now() - begun} ms`);
  const entry = await pool.db.selectFrom('waitlist').selectAll().executeTakeFirstOrThrow();
  t.match(entry, { state: 'waiting', attempts: 1, claimed_until: null });
});
