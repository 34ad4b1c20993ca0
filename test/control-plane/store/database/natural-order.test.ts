// The natural order of names: as people count, the same in programs and in both databases, and in pages.
import { sql } from 'kysely';
import t from 'tap';
import { naturalOrder } from '#control-plane/store/database/sorted-page.ts';
import { listSlots } from '#control-plane/store/fleet/slot-service.ts';
import { compareNaturally } from '#shared/natural-order.ts';
import { openTestDatabase } from '../../../fixtures/database/test-database.ts';
import { slotAt } from '../../../fixtures/nodes/scripted-node.ts';
import { createRig } from '../../../fixtures/service/rig.ts';
import { temporaryFolder } from '../../../fixtures/temporary-folder.ts';

const rig = await createRig();

/** Each name comes after the one before it. */
const IN_ORDER = [
  '1-1.2',
  '1-1.10',
  '1-2.1',
  '1-10',
  '2-1',
  '10-1',
  'A2',
  'a10',
  'a10b9',
  'a10b10',
  'm0',
  'm2',
  'm10',
  'm99999999999999999999',
  'rack 2 slot 9',
  'rack 2 slot 10',
  'rack 10 slot 1',
  'é1',
];

t.test('counts as people do', async (t) => {
  t.same([...IN_ORDER].reverse().sort(compareNaturally), IN_ORDER);
  t.not(compareNaturally('m01', 'm1'), 0, 'two names are never one');
  t.equal(Math.sign(compareNaturally('m01', 'm1')), -Math.sign(compareNaturally('m1', 'm01')));
});

t.test('both databases have the same order', { timeout: 120_000 }, async (t) => {
  const { databaseUrl } = await rig.start(t);
  for (const place of [databaseUrl, { folder: temporaryFolder(t) }]) {
    const db = await openTestDatabase(t, place);
    const { rows } = await sql<{ name: string }>`
      select name from unnest(${[...IN_ORDER].reverse()}::text[]) as name order by ${naturalOrder('name')}`.execute(
      db,
    );
    t.same(
      rows.map(({ name }) => name),
      IN_ORDER,
    );
  }
});

t.test('a list of slots, page by page, has each of them once', { timeout: 60_000 }, async (t) => {
  const { url, databaseUrl } = await rig.start(t);
  const names = ['m1', 'm01', 'm2', 'm9', 'm10', 'm11'];
  const slots = names.map((slot, index) => slotAt(index + 1, { slot }));
  await rig.connect(t, url, { nodeId: 'lab', slots: [...slots].reverse() });
  const db = await openTestDatabase(t, databaseUrl);
  for (const sort of [undefined, { by: 'slot', isDescending: true }] as const) {
    const listed: string[] = [];
    for (let last: { node: string; slot: string } | undefined; ; ) {
      const [row] = await listSlots(db, { limit: 1, after: last, sort }, new Date());
      if (row === undefined) break;
      listed.push(row.slot);
      last = row;
    }
    const expected = [...names].sort(compareNaturally);
    t.same(listed, sort === undefined ? expected : expected.reverse());
  }
});
