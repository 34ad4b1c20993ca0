// The first page of the console in a real Chromium: with a rack of 64, with nothing, for everybody who uses it.
import t, { type Test } from 'tap';
import { FAILURE_CLASSES } from '#shared/sms/failure-class.ts';
import { checkAccessibility, looks } from '../../fixtures/accessibility.ts';
import { openPage, skipWithoutBrowser, startBrowser } from '../../fixtures/browser.ts';
import { openTestDatabase } from '../../fixtures/database/test-database.ts';
import {
  enter,
  type FleetConsole,
  linkRack,
  rackSlots,
  startFleetConsole,
} from '../../fixtures/service/fleet-console.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { openTestOperator } from '../../fixtures/service/test-operator.ts';
import { isWhole, shuffled } from '../../fixtures/sweep.ts';

/** WCAG 2.2, 1.4.10. */
const NARROW = { width: 320, height: 640 };
const DESKTOP = { width: 1440, height: 900 };
const rig = await createRig();
const skip = skipWithoutBrowser();

t.test('in a browser', { skip }, async (t) => {
  const browser = await startBrowser(t);
  const withRack = async (slots: number): Promise<FleetConsole> => {
    const fleet = await startFleetConsole(t, rig);
    await linkRack(t, fleet, { nodeId: 'rack-1', slots: rackSlots(slots), alarms: ['journal_unavailable'] });
    return fleet;
  };
  // More rows of the same states take axe-core longer and are all alike.
  const full = await withRack(isWhole() ? 64 : 16);
  await fillLists(t, full);
  const empty = await startFleetConsole(t, rig);

  // An ordinary run sees each page in one of these ways, and some pages in each.
  const all = shuffled(t, looks([NARROW, DESKTOP]));
  for (const [name, fleet] of Object.entries({ full, empty }))
    t.test(`${name}, light and dark, narrow and wide: axe-core finds nothing`, async (t) => {
      const options = { bypassCSP: true, reducedMotion: 'reduce' } as const;
      const { page, troubles } = await openPage(t, browser, options);
      await enter(page, fleet.consoleUrl, fleet.key);
      const pages = Object.entries(PAGES).filter(
        ([, path]) => !(path.startsWith('/nodes') && name === 'empty'),
      );
      for (const [index, [place, path]] of pages.entries())
        for (const { colorScheme, viewport } of isWhole() ? all : all.slice(index % all.length).slice(0, 1)) {
          await page.emulateMedia({ colorScheme });
          await page.setViewportSize(viewport);
          await page.goto(fleet.consoleUrl + path);
          await checkAccessibility(t, page, `${name} ${place} ${colorScheme} ${viewport.width}`);
        }
      t.same(troubles, []);
    });
});

const PAGES = {
  fleet: '/',
  node: '/nodes/rack-1',
  slot: '/nodes/rack-1/slot?name=m12',
  numbers: '/numbers',
  subscriptions: '/subscriptions',
  payments: '/payments',
  slots: '/slots?sort=calls_set_up',
  traffic: '/traffic?by=slot&sort=success',
  costs: '/costs',
  probes: '/probes',
  audit: '/audit',
};

/** Stores rows as a real service has: cards with costs, and texts that ended in every way. */
async function fillLists(t: Test, { databaseUrl, url }: FleetConsole): Promise<void> {
  const operator = await openTestOperator(t, { databaseUrl, url });
  const db = await openTestDatabase(t, databaseUrl);
  const { rows } = await operator.call('slots', { limit: 8 });
  const cards = rows.flatMap(({ iccid, slot }, index) =>
    iccid === null
      ? []
      : [
          {
            iccid,
            updated_at: new Date(),
            label: `row ${index}, shelf ${slot}`,
            plan: 'Unlimited 5G',
            monthly_cost: '14.50',
          },
        ],
  );
  await db.insertInto('cards').values(cards).execute();
  const ended = [null, ...FAILURE_CLASSES];
  await db
    .insertInto('sent_texts')
    .values(
      rows.flatMap(({ node, slot, carrier }, place) =>
        Array.from({ length: 4 + place * 6 }, (_, index) => {
          const failure = ended[(index * place) % ended.length] ?? null;
          return {
            command_id: `${slot}-${index}`,
            node_id: node,
            slot,
            carrier,
            status:
              index % 5 === 4
                ? ('queued' as const)
                : failure === null
                  ? ('delivered' as const)
                  : ('failed' as const),
            failure_class: index % 5 === 4 ? null : failure,
            report_ms: index % 5 === 4 ? null : 900 * (index + 1),
            sent_at: new Date(),
          };
        }),
      ),
    )
    .execute();
}

export type { FleetConsole };
