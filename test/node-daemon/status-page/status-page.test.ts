// The status page in a real Chromium: what it shows, that it keeps itself new, and who can use it.
import t from 'tap';
import type { NodeStatus } from '#node-daemon/status-page/node-status.ts';
import { checkAccessibility, looks } from '../../fixtures/accessibility.ts';
import { openPage, skipWithoutBrowser, startBrowser } from '../../fixtures/browser.ts';
import { slotAt } from '../../fixtures/nodes/scripted-node.ts';
import { someOf } from '../../fixtures/sweep.ts';
import { until } from '../../fixtures/until.ts';
import { callOf, hubSlots, servePages, statusOf } from './scripted-status.ts';

const OCTETS_MAX = 150 * 1024;
const VIEWPORTS = [
  { width: 320, height: 640 },
  { width: 800, height: 900 },
  { width: 1440, height: 900 },
];
const SIXTEEN = hubSlots(16);
const byHand = ['bench-1', 'bench-2'].map((slot, index) => slotAt(100 + index, { slot }));
const RACKS: Readonly<Record<string, NodeStatus>> = {
  '64 slots': statusOf(hubSlots(64), { calls: hubSlots(2).map(callOf), journalDepth: 3 }),
  '16 on hubs': statusOf([...SIXTEEN, ...byHand], { alarms: ['modem_given_up'], isLinked: false }),
  none: statusOf([], {
    enrollCommand: 'node-daemon enroll <url> <code>',
    nodeId: undefined,
    controlPlane: undefined,
    isLinked: false,
    events: [],
    alarms: ['no_modem'],
  }),
};
const skip = skipWithoutBrowser();

t.test('the page of 64 slots with a day behind them is small', async (t) => {
  const { url } = await servePages(t, RACKS['64 slots'] as NodeStatus);
  const { length } = Buffer.from(await (await fetch(url)).arrayBuffer());
  t.ok(length < OCTETS_MAX, `${length} octets`);
  t.comment(`64 slots: ${length} octets`);
});

t.test('in a browser', { skip }, async (t) => {
  const browser = await startBrowser(t);

  t.test('the rack is shown in its physical order, and the page loads nothing from outside', async (t) => {
    const { page, requested, troubles } = await openPage(t, browser);
    const { url } = await servePages(t, RACKS['16 on hubs'] as NodeStatus);
    await page.goto(url);
    t.same(await page.locator('.hub h3').allTextContents(), [
      'Hub 1-1.1',
      'Hub 1-1.2',
      'Hub 1-1.3',
      'Not at a USB port',
    ]);
    const ports = await page.locator('#hub-1-1\\.1 .place span:first-child').allTextContents();
    t.same(
      ports,
      [1, 2, 3, 4, 5, 6, 7].map((port) => `port ${port}`),
    );
    t.match(await page.locator('[id="slot-1-1.1.6"]').textContent(), /storage 19 of 20/);
    t.match(
      await page.locator('[id="slot-1-1.2.2"] .state').textContent(),
      /◐\s+searching for a network: no usable network here/,
    );
    t.equal(await page.locator('.tile .plot').count(), 18);
    t.match(
      await page.textContent('#alarms'),
      /No link to the control plane at sim\.example.*did not recover/s,
    );
    await page.click('text=1-1.1.6');
    t.equal(await page.textContent('h1'), '1-1.1.6');
    t.match(
      await page.getByRole('img').getAttribute('aria-label'),
      /^Signal of the last day: between -\d+ and -\d+ dBm$/,
    );
    t.ok(
      requested.every((each) => each.startsWith(url)),
      requested.join(' '),
    );
    t.same(troubles, []);
  });

  t.test('without modems it says what to do', async (t) => {
    const { page } = await openPage(t, browser);
    const { url } = await servePages(t, RACKS['none'] as NodeStatus);
    await page.goto(url);
    t.match(await page.textContent('main'), /not enrolled.*No modem is plugged in.*Plug in a modem/s);
  });

  t.test(
    'the page updates itself: changed parts are replaced, the others stay, with the focus',
    async (t) => {
      const { page, troubles } = await openPage(t, browser);
      const { shown, url } = await servePages(t, statusOf(SIXTEEN));
      await page.goto(url);
      await page.focus('a[href="/slots/1-1.1.2"]');
      await page.evaluate(`document.getElementById('slot-1-1.1.1').kept = true;
      document.getElementById('slot-1-1.1.2').kept = true`);
      const [first, second, ...others] = SIXTEEN;
      if (first === undefined || second === undefined) throw new Error('no slots');
      shown.status = statusOf([{ ...first, state: 'lost', reason: 'absent' }, second, ...others], {
        journalDepth: 12,
      });
      await page.waitForSelector('[id="slot-1-1.1.1"].lost');
      t.match(await page.textContent('#facts'), /12 facts not acknowledged/);
      t.equal(await page.evaluate(`document.getElementById('slot-1-1.1.1').kept`), undefined);
      t.equal(
        await page.evaluate(`document.getElementById('slot-1-1.1.2').kept`),
        true,
        'a tile that is the same',
      );
      t.equal(await page.evaluate(`document.activeElement.getAttribute('href')`), '/slots/1-1.1.2');
      shown.status = statusOf([first, { ...second, state: 'denied', reason: null }, ...others.slice(1)]);
      await page.waitForSelector('[id="slot-1-1.1.2"].bad');
      t.equal(await page.locator('.tile:not(.empty)').count(), 15, 'and a slot that went is gone');
      t.equal(
        await page.evaluate(`document.activeElement.getAttribute('href')`),
        '/slots/1-1.1.2',
        'the focus is back',
      );
      t.same(troubles, []);
    },
  );

  t.test('the page says that the daemon ended, and that it is back', async (t) => {
    const { page } = await openPage(t, browser);
    const { url } = await servePages(t, statusOf(SIXTEEN));
    await page.goto(url);
    await page.context().setOffline(true);
    await page.waitForSelector('#away:not([hidden])');
    await page.context().setOffline(false);
    await page.waitForSelector('#away', { state: 'hidden' });
  });

  t.test('the page works without JavaScript', async (t) => {
    const { page } = await openPage(t, browser, { javaScriptEnabled: false });
    const { shown, url } = await servePages(t, statusOf(SIXTEEN));
    await page.goto(url);
    t.equal(await page.locator('.tile:not(.empty)').count(), 16);
    shown.status = statusOf(SIXTEEN.slice(1));
    await until(
      'the page of its own',
      async () => (await page.locator('.tile:not(.empty)').count()) === 15,
      30_000,
    );
  });

  t.test('each slot is reached with the keyboard', async (t) => {
    const { page } = await openPage(t, browser);
    const { url } = await servePages(t, statusOf(SIXTEEN));
    await page.goto(url);
    const reached = new Set<string>();
    for (let press = 0; press < 40; press += 1) {
      await page.keyboard.press('Tab');
      reached.add(String(await page.evaluate(`document.activeElement.getAttribute('href')`)));
    }
    for (const { slot } of SIXTEEN) t.ok(reached.has(`/slots/${slot}`), slot);
  });

  for (const { colorScheme, viewport } of someOf(t, looks(VIEWPORTS), 2))
    t.test(`${colorScheme}, ${viewport.width} pixels wide: axe-core finds nothing`, async (t) => {
      const { page } = await openPage(t, browser, { colorScheme, viewport, bypassCSP: true });
      for (const [name, status] of Object.entries(RACKS)) {
        const { url } = await servePages(t, status);
        for (const path of ['/', ...status.slots.slice(0, 1).map(({ slot }) => `/slots/${slot}`)]) {
          await page.goto(url + path);
          await checkAccessibility(t, page, `${name} ${path} ${colorScheme} ${viewport.width}`);
        }
      }
    });
});
