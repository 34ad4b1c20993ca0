// Anything at all over HTTP: every answer has its form, none is 500, the process lives, and its memory stays.
import fc, { type Arbitrary } from 'fast-check';
import t from 'tap';
import { BOB } from '../../dev-stack/wallets.ts';
import { STATELESS, toolRequest } from '../../fixtures/agents/tool-client.ts';
import { signMpp, signV1, signV2 } from '../../fixtures/payments/payment-headers.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { isWhole } from '../../fixtures/sweep.ts';
import { randomSeed } from '../../history/seed.ts';
import { type Described, documentedAnswers } from '../discovery/documented.ts';
import { type FuzzRequest, mutatedJson, objectsOf, requests, values } from './fuzz/arbitraries.ts';
import { problemOf, send, stop } from './fuzz/claims.ts';
import { startServiceChild } from './fuzz/service-child.ts';

/** Bursts in a round of one kind of request; the first round only warms up. */
const BURSTS = Number(process.env['FUZZ_BURSTS'] ?? (isWhole() ? 500 : 40));
/** Requests of a burst at most. */
const AT_ONCE = 16;
/** The memory that a process may gain after some hundred requests and some hundred more. */
const GROWTH_MEGABYTES = 96;

const rig = await createRig();
const service = await startServiceChild(t, rig);
t.teardown(stop);
const { alice, url } = service;
const document = (await (await fetch(`${url}/openapi.json`)).json()) as Described;
const documented = documentedAnswers(document);
const seed = Number(process.env['FUZZ_SEED'] ?? randomSeed());
t.comment(`FUZZ_SEED=${seed}`);

let asked = 0;
const statuses: Record<number, number> = {};
async function flood(arbitrary: Arbitrary<FuzzRequest>): Promise<void> {
  await fc.assert(
    fc.asyncProperty(fc.array(arbitrary, { minLength: 1, maxLength: AT_ONCE }), async (some) => {
      const problems = await Promise.all(
        some.map(async (each) => {
          const problem = await send(url, each).then(
            (answer) => {
              statuses[answer.status] = (statuses[answer.status] ?? 0) + 1;
              return problemOf(each, answer, documented);
            },
            (error: Error) => `no answer: ${error.message}`,
          );
          return problem === undefined ? [] : [`${each.method} ${each.target}: ${problem}`];
        }),
      );
      asked += some.length;
      if (problems.flat().length > 0) throw new Error(problems.flat().join('\n'));
    }),
    { seed, numRuns: BURSTS },
  );
}

const JSON_HEADERS: [string, string][] = [['Content-Type', 'application/json']];

t.test('requests to every path', async () => {
  await flood(requests(document, alice.token));
});

t.test('payments', async (t) => {
  const written = [
    ['X-PAYMENT', '', await signV1(url, BOB.privateKey)],
    ['PAYMENT-SIGNATURE', '', await signV2(url, BOB.privateKey)],
    ['Authorization', 'Payment ', await signMpp(url, BOB.privateKey)],
  ] as const;
  const payments = fc.constantFrom(...written).chain(([name, scheme, header]) => {
    const encoding = name === 'Authorization' ? 'base64url' : 'base64';
    const original = JSON.parse(Buffer.from(header, encoding).toString()) as unknown;
    return mutatedJson(changed(original)).map(
      (octets): FuzzRequest => ({
        method: 'POST',
        target: '/subscribe',
        body: Buffer.alloc(0),
        headers: [[name, scheme + octets.toString(encoding).slice(0, 12_000)]],
      }),
    );
  });
  await flood(payments);
  t.pass();
});

t.test('calls of tools', async () => {
  const { tools } = await toolList();
  const calls = fc
    .constantFrom(...tools)
    .chain(({ name, inputSchema }) =>
      fc.record({
        name: fc.oneof({ weight: 8, arbitrary: fc.constant<unknown>(name) }, values),
        arguments: fc.oneof(objectsOf(Object.keys(inputSchema.properties ?? {})), values),
      }),
    )
    // No call has to wait here.
    .map(({ arguments: some, ...call }) => ({
      ...call,
      arguments: typeof some === 'object' && some !== null ? { ...some, wait_seconds: 0 } : some,
    }));
  const meta = { 'io.modelcontextprotocol/protocolVersion': STATELESS };
  const messages = fc.oneof(
    {
      weight: 4,
      arbitrary: calls.map((params) => ({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { ...params, _meta: meta },
      })),
    },
    objectsOf(['jsonrpc', 'id', 'method', 'params']),
    fc.array(objectsOf(['jsonrpc', 'id', 'method']), { maxLength: 3 }),
    values,
  );
  const accept: [string, string] = ['Accept', 'application/json, text/event-stream'];
  const versions = fc.constantFrom<[string, string][]>(
    [],
    [
      ['MCP-Protocol-Version', STATELESS],
      ['Mcp-Method', 'tools/call'],
    ],
  );
  await flood(
    fc.tuple(mutatedJson(messages), versions).map(([body, version]) => ({
      method: 'POST',
      target: '/mcp',
      body,
      headers: [...JSON_HEADERS, accept, ['Authorization', `Bearer ${alice.token}`], ...version],
    })),
  );
});

t.test('afterwards memory is bounded, and the service works', async (t) => {
  const before = service.megabytes();
  const askedBefore = asked;
  await flood(requests(document, alice.token));
  await flood(requests(document, alice.token));
  const after = service.megabytes();
  t.comment(`${asked} requests, ${before.toFixed()} MB and then ${after.toFixed()} MB`);
  t.ok(after - before < GROWTH_MEGABYTES, `${asked - askedBefore} requests: ${before} MB, ${after} MB`);
  t.comment(`statuses: ${JSON.stringify(statuses)}`);
  for (const status of [200, 400, 401, 402, 404, 405, 413, 415])
    t.ok(statuses[status] ?? 0, `${status} was among the answers`);
  t.ok(service.isAlive());
  const answer = await fetch(`${url}/number`, { headers: alice.headers });
  t.match(await answer.json(), { number: alice.number });
  t.same(service.complaints(), []);
});

/** A value with something else at one place. */
function changed(original: unknown): fc.Arbitrary<unknown> {
  const places = placesOf(original);
  return fc.tuple(fc.constantFrom(...places), values).map(([place, value]) => {
    const copy = structuredClone(original) as Record<string, unknown>;
    const last = String(place.at(-1));
    const holder = place.slice(0, -1).reduce((at, key) => at[key] as Record<string, unknown>, copy);
    holder[last] = value;
    return copy;
  });
}

function placesOf(value: unknown, path: string[] = []): string[][] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, part]) => [[...path, key], ...placesOf(part, [...path, key])]);
}

interface ToolList {
  tools: { name: string; inputSchema: { properties?: object } }[];
}

async function toolList(): Promise<ToolList> {
  const answer = await fetch(`${url}/mcp`, toolRequest('tools/list'));
  return ((await answer.json()) as { result: ToolList }).result;
}
