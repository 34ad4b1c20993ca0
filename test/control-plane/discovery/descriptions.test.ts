// The descriptions for programs: each is where the catalog says, of its type, and what its own tools take.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { run } from '../../fixtures/foreign-program.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';
import { requireTool } from '../../fixtures/tools.ts';

const DAY_MS = 86_400_000;
const rig = await createRig();

/** The program of a package, by the name of its command. */
function programOf(name: string, command: string): string {
  const file = requireTool.resolve(`${name}/package.json`);
  const { bin } = requireTool(file) as { bin: Record<string, string> };
  return join(file, '..', bin[command] ?? '');
}

t.test('the catalog names each file that is served', async (t) => {
  const { url } = await rig.start(t);
  const { well_known: files } = (await (await fetch(url)).json()) as { well_known: Record<string, string> };
  for (const [name, type] of [
    ['llms.txt', 'text/markdown'],
    ['asyncapi.json', 'application/json'],
    ['x402', 'application/json'],
    ['api-catalog', 'application/linkset+json'],
    ['mcp/server-card.json', 'application/json'],
    ['mcp.json', 'application/json'],
    ['agent-skills/index.json', 'application/json'],
    ['security.txt', 'text/plain'],
  ] as const) {
    const response = await fetch(files[name] ?? url);
    t.equal(response.status, 200, name);
    t.match(response.headers.get('content-type'), type, name);
    const text = await response.text();
    if (type.endsWith('json')) t.doesNotThrow(() => JSON.parse(text), name);
    const head = await fetch(files[name] ?? url, { method: 'HEAD' });
    t.equal(head.headers.get('link'), '</.well-known/api-catalog>; rel="api-catalog"', `${name}: Link`);
    t.equal(head.headers.get('etag'), response.headers.get('etag'), `${name}: HEAD`);
    t.equal((await fetch(files[name] ?? url, { method: 'POST' })).status, 405, name);
  }
});

t.test('each file that the catalog names exists', async (t) => {
  const { url } = await rig.start(t);
  const { well_known: files } = (await (await fetch(url)).json()) as { well_known: Record<string, string> };
  t.ok(Object.keys(files).length >= 12);
  for (const [name, link] of Object.entries(files)) {
    t.ok(link.startsWith(`${url}/`) && link.endsWith(name), name);
    t.equal((await fetch(link)).status, 200, name);
  }
});

t.test('security.txt holds for another month at least, and is not there without a contact', async (t) => {
  const { url } = await rig.start(t);
  const text = await (await fetch(`${url}/.well-known/security.txt`)).text();
  t.match(text, /^Contact: mailto:security@example\.com$/m);
  const expires = Date.parse(/^Expires: (.+)$/m.exec(text)?.[1] ?? '');
  t.ok(
    expires > Date.now() + 30 * DAY_MS && expires < Date.now() + 365 * DAY_MS,
    new Date(expires).toISOString(),
  );
  const { url: silent } = await rig.start(t, { securityContact: undefined });
  t.equal((await fetch(`${silent}/.well-known/security.txt`)).status, 404);
  const catalog = (await (await fetch(silent)).json()) as { well_known: object };
  t.notOk('security.txt' in catalog.well_known);
});

t.test('links of llms.txt, of the API catalog and of the skills lead somewhere', async (t) => {
  const { url } = await rig.start(t);
  const text = await (await fetch(`${url}/llms.txt`)).text();
  t.match(text, /^# Simrack\n\n> /);
  const linkset = await (await fetch(`${url}/.well-known/api-catalog`)).text();
  const skills = await (await fetch(`${url}/.well-known/agent-skills/index.json`)).text();
  const links = [
    ...[...text.matchAll(/\]\((http[^)]+)\)/g)].map(([, link]) => link ?? ''),
    ...[...`${linkset}${skills}`.matchAll(/"(?:href|url)":"([^"]+)"/g)].map(([, link]) => link ?? ''),
  ];
  t.ok(links.length >= 8);
  for (const link of new Set(links))
    t.ok([200, 405].includes((await fetch(link)).status) || link.endsWith('/mcp'), link);
});

t.test('Redocly and Spectral find nothing', async (t) => {
  const { url } = await rig.start(t);
  const folder = temporaryFolder(t);
  const fileOf = async (name: string): Promise<string> => {
    const path = join(folder, name);
    writeFileSync(path, await (await fetch(`${url}/${name}`)).text());
    return path;
  };
  const [openApi, asyncApi] = [await fileOf('openapi.json'), await fileOf('asyncapi.json')];
  const rules = join(folder, 'rules.yaml');
  // A contact has a URL here; an e-mail address is not required.
  const off = 'rules: { asyncapi-info-contact-properties: off }';
  writeFileSync(rules, `extends: ["spectral:oas", "spectral:asyncapi"]\n${off}\n`);
  const spectral = programOf('@stoplight/spectral-cli', 'spectral');
  const linted = await run(process.execPath, [
    spectral,
    'lint',
    '--ruleset',
    rules,
    '-F',
    'hint',
    openApi,
    asyncApi,
  ]);
  t.match(linted, 'No results');
  const redocly = programOf('@redocly/cli', 'redocly');
  const report = await run(process.execPath, [redocly, 'lint', '--format', 'json', openApi]);
  t.match(report, /"warnings": 0/);
  t.match(report, /"errors": 0/);
});
