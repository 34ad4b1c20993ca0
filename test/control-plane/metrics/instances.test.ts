// Metrics of several instances: those of the fleet are the same at each, so `max` is right; the others are of an instance, so `sum` is.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { slotAt } from '../../fixtures/nodes/scripted-node.ts';
import { type Family, readExposition, readingOf } from '../../fixtures/service/exposition.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { until } from '../../fixtures/until.ts';
import { PROJECT_FOLDER } from '../../tidy/sources.ts';

const page = readFileSync(join(PROJECT_FOLDER, 'docs/service/scale.md'), 'utf8');
const [, listed = ''] = /use `max`\. These are (.+?)\. All others/.exec(page) ?? [];
/** As the page names them. */
const OF_THE_FLEET = [...listed.matchAll(/`(simrack_\w+)`/g)].map(([, name]) => String(name));

const rig = await createRig({ hasInstances: true });

t.test('two instances', async (t) => {
  const here = await rig.start(t, { metricsPort: 0 });
  const there = await rig.start(t, { metricsPort: 0, databaseUrl: here.databaseUrl });
  await rig.connect(t, here.url, { slots: [slotAt(1), slotAt(2)] });
  const scrape = async ({ service }: typeof here): Promise<Map<string, Family>> =>
    readExposition(await (await fetch(`http://127.0.0.1:${service.metricsPort}/metrics`)).text());
  await until('both numbers are on sale', async () => {
    const pages = await Promise.all([here, there].map(scrape));
    return pages.every((page) => readingOf(page, 'simrack_numbers', { state: 'available' }) === 2);
  });
  const [one, other] = [await scrape(here), await scrape(there)];
  t.ok(OF_THE_FLEET.length > 5);
  for (const family of OF_THE_FLEET) {
    t.ok(one.get(family)?.samples.length, family);
    t.same(one.get(family)?.samples, other.get(family)?.samples, family);
  }
  const linked = [one, other].map((page) => readingOf(page, 'simrack_websockets', { kind: 'node' }));
  t.same(linked, [1, 0], 'a link is one of one instance');
});
