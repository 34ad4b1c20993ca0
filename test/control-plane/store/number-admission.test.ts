// Which texts may prove new SIMs: what a node says of them makes honest SIMs text nobody for long.
import { sql } from 'kysely';
import t from 'tap';
import { openDatabase } from '#control-plane/store/database.ts';
import { findAdmissionPairs } from '#control-plane/store/number-admission.ts';
import { insertProbe } from '#control-plane/store/probes.ts';
import { insertNumbersOnSale } from '../../fixtures/number-stock.ts';
import { startPostgres } from '../../fixtures/postgres.ts';

const HOUR_MS = 3_600_000;
/** Of a node within a day. */
const TEXTS_MAX = 256;

const postgres = await startPostgres();
t.teardown(() => postgres.stop());

t.test(
  'a node that makes SIMs up has a bound, one number is texted once, and others have their turn',
  async (t) => {
    const { db, close } = await openDatabase({ url: await postgres.createDatabase(), connectionsMax: 2 });
    t.teardown(close);
    await insertNumbersOnSale(db, 1);
    const start = Date.now();
    let made = 0;
    /** A new SIM that `node` reports, whatever number that says it has. */
    const introduce = async (node: string, number: string, since: number): Promise<void> => {
      made += 1;
      const iccid = `8902${String(made).padStart(15, '0')}`;
      await sql`insert into nodes (id, link_id, link_alive_until) values (${node}, 'link', 'infinity')
      on conflict do nothing`.execute(db);
      await sql`insert into sims (iccid, node_id, slot, state, updated_at)
      values (${iccid}, ${node}, ${`s${made}`}, 'registered', now())`.execute(db);
      await sql`insert into numbers (number, iccid, created_at, unadmitted_since)
      values (${number}, ${iccid}, now(), ${new Date(since)}::timestamptz)`.execute(db);
    };
    const forget = () => sql`delete from numbers where unadmitted_since is not null`.execute(db);
    let probes = 0;
    const round = async (atMs: number) => {
      const pairs = await findAdmissionPairs(db, {
        now: new Date(atMs),
        retryBefore: new Date(atMs - HOUR_MS),
      });
      for (const pair of pairs) {
        probes += 1;
        await insertProbe(db, {
          ...{
            id: `probe_${probes}`,
            kind: 'sms',
            isScheduled: false,
            isAdmission: true,
            token: `t${probes}`,
          },
          ...{ ...pair, startedAt: new Date(atMs), deadlineAt: new Date(atMs + 1_000) },
        });
      }
      return pairs;
    };
    const rogueTexts = new Map<string, number>();
    const honest = new Set<string>();
    for (let minute = 0; minute < 40; minute += 1) {
      const atMs = start + minute * 60_000;
      await forget();
      // New SIMs each time, and one stranger's number among them.
      await introduce('rogue', '+12125550100', atMs);
      for (let index = 0; index < 31; index += 1)
        await introduce('rogue', `+1213${String(5_550_000 + minute * 31 + index)}`, atMs);
      await introduce('honest', `+1215${String(5_550_000 + minute)}`, atMs);
      for (const { sender, recipient } of await round(atMs)) {
        for (const { node, number } of [sender, recipient]) {
          if (node === 'rogue') rogueTexts.set(number, (rogueTexts.get(number) ?? 0) + 1);
          if (node === 'honest') honest.add(number);
        }
      }
    }
    const texts = [...rogueTexts.values()].reduce((sum, count) => sum + count, 0);
    t.equal(texts, TEXTS_MAX, 'a day has no more');
    const { rows } = await sql<{ count: number }>`select count(*)::int as count from probes
    where to_number = '+12125550100'`.execute(db);
    t.match(rows, [{ count: 1 }], 'within an hour a number is texted once, whatever SIM has it');
    t.equal(honest.size, 40, 'the SIMs of the other node come at once');
  },
);
