// A number after its holder: purged, and not sold before its quarantine is over; then as if nothing had been.
import t from 'tap';
import { SWEEP_AFTER_MS } from '#control-plane/store/fleet/holdings.ts';
import { countAvailable } from '#control-plane/store/fleet/number-pool.ts';
import { countNumbers, releaseNumber } from '#control-plane/store/fleet/numbers.ts';
import { purgeLapsed } from '#control-plane/store/money/purge.ts';
import { ALICE } from '../../../dev-stack/wallets.ts';
import { subscribeInStore } from '../../../fixtures/agents/subscribed.ts';
import { openTestDatabase } from '../../../fixtures/database/test-database.ts';
import { slotAt } from '../../../fixtures/nodes/scripted-node.ts';
import { createRig } from '../../../fixtures/service/rig.ts';

const rig = await createRig();
const HOUR_MS = 60 * 60_000;
const DAY_MS = 24 * HOUR_MS;
const YEAR_MS = 365 * DAY_MS;
const NUMBER = String(slotAt(1).number);

for (const [about, quarantineMs] of [
  ['none', 0],
  ['a week', 7 * DAY_MS],
] as const) {
  t.test(`a quarantine of ${about}`, async (t) => {
    const { url, databaseUrl } = await rig.start(t, { heartbeatMs: 600_000 });
    await rig.connect(t, url);
    const db = await openTestDatabase(t, databaseUrl);
    const begun = Date.now() - YEAR_MS;
    await subscribeInStore(databaseUrl, ALICE, NUMBER, new Date(begun));
    const at = (ms: number): Date => new Date(begun + YEAR_MS + ms);
    const purge = (now: Date) => purgeLapsed(db, { graceMs: 0, quarantineMs, now });
    await purge(at(1));
    t.equal((await purge(at(1 + HOUR_MS))).length, 1);
    // The links of this test count as up for long.
    await db
      .updateTable('nodes')
      .set({ link_alive_until: at(YEAR_MS) })
      .execute();
    const sweep = (ms: number) =>
      db
        .updateTable('sims')
        .set({ swept_at: at(ms) })
        .execute();
    const end = 1 + HOUR_MS + quarantineMs;
    await sweep(end);
    if (quarantineMs > 0) {
      t.equal(await countAvailable(db, at(end - 1)), 0);
      t.equal((await countNumbers(db, at(end - 1))).get('quarantined'), 1);
    }
    if (quarantineMs === 0) t.equal(await countAvailable(db, at(end)), 0, 'swept a moment too early');
    await sweep(end + SWEEP_AFTER_MS);
    t.equal(await countAvailable(db, at(end)), 1);
    t.equal((await countNumbers(db, at(end))).get('available'), 1);
    if (quarantineMs === 0) return;
    await releaseNumber(db, NUMBER, at(end - 1));
    t.equal(await countAvailable(db, at(end - 1)), 1, 'released');
    await t.rejects(releaseNumber(db, NUMBER, at(end - 1)), /not in quarantine/);
  });
}
