// The site of the documentation: it builds without a dead link, its search finds pages, and pages fit small and large screens, light and dark.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join, normalize } from 'node:path';
import t from 'tap';
import { checkAccessibility, looks } from '../fixtures/accessibility.ts';
import { openPage, skipWithoutBrowser, startBrowser } from '../fixtures/browser.ts';
import { someOf } from '../fixtures/sweep.ts';
import { PROJECT_FOLDER } from '../tidy/sources.ts';

const DIST = join(PROJECT_FOLDER, 'docs/.vitepress/dist');
const BUILD_TIMEOUT_MS = 180_000;
/** Pages that an ordinary run opens in each window. */
const SOME_PAGES = 3;
/** The text of a page. The menus around it are VitePress' own. */
const OURS = '.vp-doc';
const NARROW = { width: 390, height: 844 };
const DESKTOP = { width: 1280, height: 900 };
const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.json': 'application/json',
};

/** The built site can be served by any server that leaves out .html. */
function fileOf(url: string): string | undefined {
  const path = join(DIST, normalize(decodeURIComponent(new URL(url, 'http://site').pathname)));
  const candidates = [path, `${path}.html`, join(path, 'index.html')];
  return candidates.find((file) => existsSync(file) && statSync(file).isFile());
}

const server = createServer(({ url = '/' }, response) => {
  const file = fileOf(url);
  if (file === undefined) response.writeHead(404).end();
  else
    response
      .writeHead(200, { 'content-type': MEDIA_TYPES[extname(file)] ?? 'application/octet-stream' })
      .end(readFileSync(file));
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
t.teardown(() => {
  server.close();
  server.closeAllConnections();
});
const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

t.test('npm run docs builds the site', async (t) => {
  execFileSync('npm', ['run', 'docs', '--silent'], {
    cwd: PROJECT_FOLDER,
    timeout: BUILD_TIMEOUT_MS,
    stdio: 'pipe',
  });
  t.ok(existsSync(join(DIST, 'index.html')));
});

t.test('in a browser', { skip: skipWithoutBrowser() }, async (t) => {
  const browser = await startBrowser(t);
  const pages = readdirSync(DIST, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.html') && name !== '404.html')
    .map((name) => name.replace(/(?:index)?\.html$/, ''));
  t.ok(pages.length > 10);

  t.test('search finds a page', async (t) => {
    const { page, troubles } = await openPage(t, browser, { viewport: DESKTOP });
    await page.goto(`${base}/`, { waitUntil: 'networkidle' });
    await page.keyboard.press('Control+k');
    await page.locator('.VPLocalSearchBox input').fill('RADIO_DELAY_MS');
    // Its words stand on other pages, too.
    await page.locator('.VPLocalSearchBox .result[href*="reference/options"]').first().click();
    await page.waitForURL(/\/reference\/options/);
    await page.locator('h1', { hasText: 'Options' }).waitFor();
    t.same(troubles, []);
  });

  for (const { colorScheme, viewport } of looks([NARROW, DESKTOP]))
    t.test(`pages, ${colorScheme}, on ${viewport.width} pixels`, async (t) => {
      const { page, troubles } = await openPage(t, browser, {
        colorScheme,
        viewport,
        reducedMotion: 'reduce',
      });
      for (const path of someOf(t, pages, SOME_PAGES)) {
        await page.goto(`${base}/${path}`, { waitUntil: 'load' });
        await checkAccessibility(t, page, `/${path} ${colorScheme} ${viewport.width}`, OURS);
      }
      t.same(troubles, []);
    });
});
