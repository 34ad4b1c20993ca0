// A person registers another person's address repeatedly while the pool opens and closes: one mail a week, no more.
import t from 'tap';
import { MINUTE_MS } from '../../fixtures/service/housekeeping.ts';
import {
  join,
  type MailingService,
  recipientsOf,
  startMailing,
} from '../../fixtures/service/mailing-service.ts';
import { createRig } from '../../fixtures/service/rig.ts';

const rig = await createRig();
const HOUR_MS = 60 * MINUTE_MS;
const WEEK_HOURS = 7 * 24;
/** Twice a day at the beginning and at the end of each week. */
const OPENINGS = [0, 12, 24, 36, 144, 156].flatMap((hour) => [hour, WEEK_HOURS + hour]).sort((a, b) => a - b);
OPENINGS.push(2 * WEEK_HOURS, 2 * WEEK_HOURS + 12);

async function flap({ pool, pass }: MailingService): Promise<void> {
  await pool.setOnSale(false);
  await pass();
  await pool.setOnSale(true);
  await pass();
}

/** The link at the end of the last mail, or of the last to that name. */
async function leave({ mail, url }: MailingService, name = ''): Promise<void> {
  const last = mail.taken.findLast(({ to }) => to.startsWith(name));
  const link = /^<\S+(\/waitlist\/unsubscribe\?token=\S+)>$/.exec(
    String(last?.headers.get('list-unsubscribe')),
  )?.[1];
  const answer = await fetch(`${url}${link}`, { method: 'POST' });
  if (answer.status !== 200) throw new Error(String(answer.status));
}

t.test(
  'a pool that opens twice a day, and an address that is registered each time: one mail a week',
  async (t) => {
    const service = await startMailing(t, rig);
    const { url, mail, pass, pool } = service;
    const days: number[] = [];
    let last = -12;
    for (const hour of OPENINGS) {
      await join(url, 'victim');
      const before = mail.taken.length;
      await pool.setOnSale(false);
      await pass(1, (hour - last) * HOUR_MS - MINUTE_MS);
      await pool.setOnSale(true);
      await pass();
      if (mail.taken.length > before) days.push(Math.floor(hour / 24));
      last = hour;
    }
    t.same(days, [0, 7, 14]);
  },
);

t.test('tags of one mailbox are one entry, also after it left the list', async (t) => {
  const service = await startMailing(t, rig);
  const { url, mail, pool, pass } = service;
  const [first] = await join(url, 'Victim+1');
  await pass();
  t.same(await join(url, 'victim+2', 'victim+2+3', 'victim'), [first, first, first]);
  const [other] = await join(url, 'vic');
  t.not(other, first, 'a shorter name is another mailbox');
  await join(url, '+1', '+2');
  await pool.setOnSale(true);
  await pass();
  t.same(recipientsOf(mail), ['+1', '+2', 'Victim+1', 'vic'], 'the written form is mailed');
  await leave(service, 'Victim+1');
  await join(url, 'victim+4');
  await flap(service);
  t.equal(mail.taken.length, 4);
});

t.test('leaving the list allows no further mail, and nothing is kept for longer than a week', async (t) => {
  const service = await startMailing(t, rig);
  const { url, mail, pass, pool, clock } = service;
  for (let day = 0; day < 6; day += 1) {
    await join(url, 'victim');
    await flap(service);
    t.same(recipientsOf(mail), ['victim'], `day ${day}`);
    await leave(service);
    await pass(1, 24 * HOUR_MS);
  }
  await join(url, 'victim', 'ann');
  await flap(service);
  t.same(recipientsOf(mail), ['ann', 'victim'], 'others are mailed');
  clock.advance(2 * 24 * HOUR_MS);
  await pass();
  t.same(recipientsOf(mail), ['ann', 'victim', 'victim'], 'there are numbers when the week is over');
  const rows = () => pool.db.selectFrom('waitlist_mailed').selectAll().execute();
  await leave(service);
  const [row] = await rows();
  t.match(row?.email_hash, /^[0-9a-f]{64}$/, 'no address');
  await pass(2, 4 * 24 * HOUR_MS);
  t.same(await rows(), []);
});

t.test('a mail that may have arrived counts', async (t) => {
  const service = await startMailing(t, rig);
  const { mail, pass, url } = service;
  let cuts = 0;
  mail.script = {
    onMail: () => {
      cuts += 1;
      mail.cut();
      return undefined;
    },
  };
  await join(url, 'ann');
  await flap(service);
  await pass(10, 3 * MINUTE_MS);
  const tried = cuts;
  t.equal(tried, 3, 'of one opening');
  for (let count = 0; count < 3; count += 1) {
    await flap(service);
    await pass(2, 3 * MINUTE_MS);
  }
  t.equal(cuts, tried);
  mail.script = {};
  await pass(1, WEEK_HOURS * HOUR_MS);
  await flap(service);
  t.ok(recipientsOf(mail).includes('ann'), 'it gets a mail about a later opening');
});
