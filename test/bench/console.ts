// The console of operators with a rack of 64: its first paint and its size, how soon a change is seen, and what 50 who watch cost.
import { Agent, get } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { ScriptedNode } from '../fixtures/nodes/scripted-node.ts';
import { addOperator, enter, rackSlots, signedIn } from '../fixtures/service/fleet-console.ts';
import { until } from '../fixtures/until.ts';
import { processorSeconds } from './child.ts';
import { type Measurement, percentile } from './report.ts';
import { type BenchService, startBenchService } from './voice/voice-service.ts';

const SLOTS = rackSlots(64);
const ROUNDS = 7;
const CHANGES = 20;
const VIEWERS = 50;
const SESSIONS = 10;
const WATCH_ROUNDS = 5;
const WATCH_MS = 12_000;
/** A rack reports its slots about once a second: a few signals, and now and then a state. */
const REPORT_MS = 1_000;
const SIGNALS_CHANGED = 3;
const STATE_EVERY = 5;

export async function benchConsole(): Promise<Measurement[]> {
  const plane = await startBenchService({ CONSOLE_PORT: '0' });
  const consoleUrl = String(plane.service.ready['console_url']);
  const key = await addOperator(plane.databaseUrl, 'ann');
  const node = await ScriptedNode.connect(plane.url, { nodeId: 'rack-1', slots: SLOTS });
  const browser = await chromium.launch({
    executablePath: '/usr/bin/chromium-headless-shell',
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  });
  try {
    const client = await signedIn(consoleUrl, key);
    await until('the rack is there', async () => (await client.page('/')).includes('<b>m64</b>'));
    const seen = await benchPages(browser, consoleUrl, key, node);
    await browser.close();
    return [...seen, ...(await benchViewers(plane, consoleUrl, await sessions(consoleUrl, key), node))];
  } finally {
    await browser.close();
    await node.drop();
    await plane.stop();
  }
}

async function benchPages(
  browser: Browser,
  consoleUrl: string,
  key: string,
  node: ScriptedNode,
): Promise<Measurement[]> {
  const paints: number[] = [];
  const sizes: number[] = [];
  const contexts: BrowserContext[] = [];
  for (let round = -2; round < ROUNDS; round += 1) {
    // Nothing of an earlier round is in its cache, but for the sign-in page's style.
    const context = await browser.newContext();
    const page = await context.newPage();
    await enter(page, consoleUrl, key);
    contexts.push(context);
    const cookies = await context.cookies();
    const fresh = await browser.newContext();
    await fresh.addCookies(cookies);
    contexts.push(fresh);
    const { paint, bytes } = await load(await fresh.newPage(), consoleUrl);
    if (round < 0) continue;
    paints.push(paint);
    sizes.push(bytes / 1024);
  }
  for (const context of contexts.splice(1)) await context.close();
  const changes = await benchChanges(contexts[0]?.pages()[0] as Page, consoleUrl, node);
  await contexts[0]?.close();
  return [
    { name: 'console: first paint, 64 slots', rounds: paints, unit: 'ms', target: { atMost: 1_000 } },
    { name: 'console: bytes of the first page', rounds: sizes, unit: 'KB', target: { atMost: 150 } },
    ...changes,
  ];
}

async function load(page: Page, url: string): Promise<{ paint: number; bytes: number }> {
  await page.goto(url, { waitUntil: 'load' });
  const measured = `(() => {
    const of = (type) => performance.getEntriesByType(type);
    const paint = of('paint').find(({ name }) => name === 'first-contentful-paint')?.startTime;
    const bytes = [...of('navigation'), ...of('resource')].reduce((sum, { transferSize }) => sum + transferSize, 0);
    return { paint, bytes };
  })()`;
  return until('it is painted', async () => {
    const { paint, bytes } = (await page.evaluate(measured)) as { paint?: number; bytes: number };
    return paint === undefined ? undefined : { paint, bytes };
  });
}

/** From the frame of the node to the page of a browser. */
async function benchChanges(page: Page, consoleUrl: string, node: ScriptedNode): Promise<Measurement[]> {
  await page.goto(consoleUrl);
  await page.waitForSelector('#live:has-text("Live")');
  const times: number[] = [];
  for (let change = 0; change < CHANGES; change += 1) {
    const isLost = change % 2 === 0;
    const slots = SLOTS.map((slot) =>
      slot.slot === 'm3' && isLost ? { ...slot, state: 'lost' as const } : slot,
    );
    const reportedAt = performance.now();
    node.send({ type: 'slots', slots, alarms: [] });
    await page.waitForSelector(`[id="slot/rack-1/m3"].${isLost ? 'bad' : 'good'}`);
    times.push(performance.now() - reportedAt);
    // At any moment between two renderings.
    await pause(Math.random() * 1_500);
  }
  return [50, 99].map((percent) => ({
    name: `console: a node reports → the page shows p${percent}`,
    rounds: [percentile(times, percent)],
    unit: 'ms',
    target: { atMost: 1_000 },
    remark: `${CHANGES} changes`,
  }));
}

async function benchViewers(
  { service }: BenchService,
  consoleUrl: string,
  cookies: readonly string[],
  node: ScriptedNode,
): Promise<Measurement[]> {
  const shares: number[] = [];
  let remark = '';
  for (let round = 0; round < WATCH_ROUNDS; round += 1) {
    const alone = await shareWhileReported(service.pid, node);
    const viewers = await openViewers(consoleUrl, cookies);
    const watched = await shareWhileReported(service.pid, node);
    const heard = viewers.bytes();
    viewers.close();
    shares.push((watched - alone) * 100);
    remark = `last round ${(alone * 100).toFixed(1)} % without, ${(watched * 100).toFixed(1)} % with, ${Math.round(heard / VIEWERS / 1024)} KB each`;
  }
  return [
    {
      name: `console: ${VIEWERS} who watch, of a core`,
      rounds: shares,
      unit: '%',
      target: { atMost: 5 },
      remark,
    },
  ];
}

/** Share of a core that the service takes while its rack reports changes. */
async function shareWhileReported(pid: number, node: ScriptedNode): Promise<number> {
  const slots = SLOTS.map((slot) => ({ ...slot }));
  const before = processorSeconds(pid);
  const startedAt = performance.now();
  for (let turn = 0; performance.now() - startedAt < WATCH_MS; turn += 1) {
    for (let change = 0; change < SIGNALS_CHANGED; change += 1) {
      const slot = slots[(turn * SIGNALS_CHANGED + change) % slots.length];
      if (slot?.signal_dbm != null) slot.signal_dbm = -60 - ((turn * 13 + change * 7) % 50);
    }
    const [first] = slots;
    if (first !== undefined && turn % STATE_EVERY === 0)
      first.state = first.state === 'registered' ? 'searching' : 'registered';
    node.send({ type: 'slots', slots, alarms: [] });
    await pause(REPORT_MS);
  }
  return (processorSeconds(pid) - before) / ((performance.now() - startedAt) / 1000);
}

const sessions = (consoleUrl: string, key: string): Promise<string[]> =>
  Promise.all(Array.from({ length: SESSIONS }, async () => (await signedIn(consoleUrl, key)).cookie));

async function openViewers(consoleUrl: string, cookies: readonly string[]) {
  const agent = new Agent({ keepAlive: false });
  let bytes = 0;
  let open = 0;
  const requests = Array.from({ length: VIEWERS }, (_, index) =>
    get(
      `${consoleUrl}/live?topic=${encodeURIComponent('of=fleet&range=hour')}`,
      { agent, headers: { Cookie: cookies[index % cookies.length] } },
      (response) => {
        if (response.statusCode !== 200) throw new Error(`a stream: ${response.statusCode}`);
        open += 1;
        response.on('data', (chunk: Buffer) => {
          bytes += chunk.length;
        });
        response.on('error', () => undefined);
      },
    ).on('error', () => undefined),
  );
  await until('all watch', () => open === VIEWERS);
  await pause(REPORT_MS);
  bytes = 0;
  return {
    bytes: () => bytes,
    close() {
      for (const request of requests) request.destroy();
    },
  };
}
