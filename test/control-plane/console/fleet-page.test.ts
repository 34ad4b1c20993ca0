// The first page of the console in a real Chromium: with a rack of 64, with nothing, for everybody who uses it.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import t from 'tap';
import { openPage, skipWithoutBrowser, startBrowser } from '../../fixtures/browser.ts';
import {
  enter,
  type FleetConsole,
  linkRack,
  rackSlots,
  startFleetConsole,
} from '../../fixtures/fleet-console.ts';
import { createRig } from '../../fixtures/rig.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** WCAG 2.2, 1.4.10. */
const NARROW = { width: 320, height: 640 };
const DESKTOP = { width: 1440, height: 900 };
const rig = await createRig();
const skip = skipWithoutBrowser();

t.test('in a browser', { skip }, async (t) => {
  const browser = await startBrowser(t);
  const full = await startFleetConsole(t, rig);
  await linkRack(t, full, { nodeId: 'rack-1', slots: rackSlots(64), alarms: ['journal_unavailable'] });
  const empty = await startFleetConsole(t, rig);

  for (const colorScheme of ['light', 'dark'] as const)
    for (const viewport of [NARROW, DESKTOP])
      t.test(`${colorScheme}, ${viewport.width} pixels wide: axe-core finds nothing`, async (t) => {
        for (const [name, fleet] of Object.entries({ full, empty })) {
          const { page, troubles } = await openPage(t, browser, {
            ...{ colorScheme, viewport, bypassCSP: true, reducedMotion: 'reduce' },
          });
          await enter(page, fleet.consoleUrl, fleet.key);
          for (const [place, path] of Object.entries(PAGES)) {
            if (path.startsWith('/nodes') && name === 'empty') continue;
            await page.goto(fleet.consoleUrl + path);
            const picture = `${process.env['SCREENSHOTS']}/${name}-${place}-${colorScheme}-${viewport.width}.png`;
            if (process.env['SCREENSHOTS'] !== undefined)
              await page.screenshot({ path: picture, fullPage: true });
            await page.evaluate(AXE);
            const { violations } = (await page.evaluate(
              `axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] })`,
            )) as { violations: { id: string; nodes: { html: string }[] }[] };
            const found = violations.map(
              ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`,
            );
            t.same(found, [], `${name} ${place}`);
            const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
            t.ok(Number(overflow) <= 0, `${name} ${place}: nothing sticks out`);
          }
          t.same(troubles, []);
        }
      });
});

const PAGES = {
  fleet: '/',
  node: '/nodes/rack-1',
  slot: '/nodes/rack-1/slot?name=m12',
  numbers: '/numbers',
  subscriptions: '/subscriptions',
  payments: '/payments',
};

export type { FleetConsole };
