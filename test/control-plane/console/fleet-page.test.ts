// The first page of the console in a real Chromium: with a rack of 64, with nothing, for everybody who uses it.
import t from 'tap';
import { checkAccessibility, looks } from '../../fixtures/accessibility.ts';
import { openPage, skipWithoutBrowser, startBrowser } from '../../fixtures/browser.ts';
import {
  enter,
  type FleetConsole,
  linkRack,
  rackSlots,
  startFleetConsole,
} from '../../fixtures/fleet-console.ts';
import { createRig } from '../../fixtures/rig.ts';
import { isWhole, someOf } from '../../fixtures/sweep.ts';

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
  const empty = await startFleetConsole(t, rig);

  for (const { colorScheme, viewport } of someOf(t, looks([NARROW, DESKTOP]), 2))
    t.test(`${colorScheme}, ${viewport.width} pixels wide: axe-core finds nothing`, async (t) => {
      for (const [name, fleet] of Object.entries({ full, empty })) {
        const { page, troubles } = await openPage(t, browser, {
          colorScheme,
          viewport,
          bypassCSP: true,
          reducedMotion: 'reduce',
        });
        await enter(page, fleet.consoleUrl, fleet.key);
        for (const [place, path] of Object.entries(PAGES)) {
          if (path.startsWith('/nodes') && name === 'empty') continue;
          await page.goto(fleet.consoleUrl + path);
          await checkAccessibility(t, page, `${name} ${place} ${colorScheme} ${viewport.width}`);
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
