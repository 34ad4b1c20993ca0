// The page for people, in a real Chromium: what it says, what it does, and who can use it.
import t from 'tap';
import { checkAccessibility, looks } from '../../fixtures/accessibility.ts';
import { openPage, skipWithoutBrowser, startBrowser } from '../../fixtures/browser.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { someOf } from '../../fixtures/sweep.ts';

const PAGE_OCTETS_MAX = 60 * 1024;
/** WCAG 2.2, 1.4.10. */
const NARROW = { width: 320, height: 640 };
const PHONE = { width: 390, height: 844 };
const DESKTOP = { width: 1440, height: 900 };
const PAGES = { landing: '/', message: '/waitlist/unsubscribe?token=any' };
const rig = await createRig();
const skip = skipWithoutBrowser();

t.test('Accept decides who gets it, and a cache keeps them apart', async (t) => {
  const { url } = await rig.start(t);
  for (const [accept, type] of [
    ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'text/html'],
    ['text/html', 'text/html'],
    ['*/*', 'application/json'],
    ['application/json', 'application/json'],
    ['application/json, text/html', 'application/json'],
    ['application/json;q=0.5, text/html', 'text/html'],
    ['text/html;q=0, */*', 'application/json'],
    ['image/png', 'application/json'],
  ] as const) {
    const response = await fetch(url, { headers: { Accept: accept } });
    t.equal(response.status, 200);
    t.match(response.headers.get('content-type'), type, accept);
    t.match(response.headers.get('vary'), /accept/i);
    await response.arrayBuffer();
  }
});

t.test('the page is small, and its policy allows nothing from outside', async (t) => {
  const { url } = await rig.start(t);
  const response = await fetch(url, { headers: { Accept: 'text/html' } });
  const text = await response.text();
  t.ok(text.length < PAGE_OCTETS_MAX, `${text.length} octets`);
  const policy = response.headers.get('content-security-policy') ?? '';
  t.match(policy, "default-src 'none'");
  t.notMatch(policy, /unsafe|https?:|\*/);
});

t.test('in a browser', { skip }, async (t) => {
  const { url } = await rig.start(t);
  const browser = await startBrowser(t);

  t.test('the page explains the service, and the demo runs', async (t) => {
    const { page, requested, troubles } = await openPage(t, browser, { viewport: DESKTOP });
    await page.goto(url);
    t.match(await page.textContent('h1'), /US mobile number/);
    t.match(await page.textContent('.facts'), /1,800/);
    const { available } = (await (await fetch(`${url}/availability`)).json()) as { available: number };
    t.equal(await page.textContent('#left'), String(available));
    await page.click('#run');
    await page.waitForSelector('text=GET /sms/receive → count 1');
    t.match(await page.textContent('#screen'), /Your verification code/);
    t.same(troubles, []);
    t.ok(
      requested.every((each) => each.startsWith(url) || each.startsWith('data:')),
      `${requested}`,
    );
  });

  t.test('the waitlist takes an address without leaving the page', async (t) => {
    const { page, troubles } = await openPage(t, browser, { viewport: DESKTOP });
    await page.goto(url);
    await page.fill('#waitlist-form input', 'bob@example.org');
    await page.keyboard.press('Enter');
    await page.waitForSelector('text=You are on the list, since');
    t.equal(page.url().split('#')[0], `${url}/`);
    t.same(troubles, []);
  });

  t.test('a code is copied as it stands', async (t) => {
    const { page } = await openPage(t, browser, {
      viewport: DESKTOP,
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    await page.goto(url);
    await page.click('.copy >> nth=1');
    await page.waitForSelector('text=Copied');
    const copied = await page.evaluate('navigator.clipboard.readText()');
    t.match(copied, `curl ${url}/sms/send`);
  });

  t.test('without JavaScript everything but the demo works', async (t) => {
    const { page, troubles } = await openPage(t, browser, { viewport: PHONE, javaScriptEnabled: false });
    await page.goto(url);
    t.match(await page.textContent('body'), /Four requests/);
    t.notOk(await page.isVisible('#run'));
    t.notOk(await page.isVisible('.copy >> nth=0'));
    await page.fill('#waitlist-form input', 'ann@example.org');
    await page.click('#waitlist-form button');
    t.equal(await page.textContent('h1'), 'You are on the list');
    await page.click('text=Back to the waitlist');
    t.ok(await page.isVisible('#waitlist-form'));
    t.same(troubles, []);
  });

  t.test('with the keyboard: past the header, and to everything', async (t) => {
    const { page } = await openPage(t, browser, { viewport: DESKTOP });
    await page.goto(url);
    await page.keyboard.press('Tab');
    t.equal(await page.evaluate('document.activeElement.textContent'), 'Skip to the content');
    const reached = new Set<string>();
    for (let press = 0; press < 60; press += 1) {
      reached.add(String(await page.evaluate('document.activeElement.outerHTML.slice(0, 60)')));
      await page.keyboard.press('Tab');
    }
    for (const part of ['id="run"', 'href="#steps"', '<pre', 'class="copy"', 'type="email"', 'type="submit"'])
      t.ok(
        [...reached].some((html) => html.includes(part)),
        part,
      );
  });

  for (const { colorScheme, viewport } of someOf(t, looks([NARROW, PHONE, DESKTOP]), 2))
    t.test(`${colorScheme}, ${viewport.width} pixels wide: axe-core finds nothing`, async (t) => {
      const { page } = await openPage(t, browser, {
        colorScheme,
        viewport,
        bypassCSP: true,
        reducedMotion: 'reduce',
      });
      for (const [name, path] of Object.entries(PAGES)) {
        await page.goto(url + path);
        await checkAccessibility(t, page, `${name} ${colorScheme} ${viewport.width}`);
      }
    });
});
