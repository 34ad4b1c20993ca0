// The cards for agents and registries, as programs of others read them.
import t from 'tap';
import { createRig } from '../../fixtures/service/rig.ts';
import { requireTool } from '../../fixtures/tools.ts';

interface Card {
  name: string;
  supportedInterfaces: { url: string }[];
  skills: { id: string; name: string; description: string; tags: string[] }[];
}
interface Resolver {
  resolve(url: string): Promise<Card>;
}
interface Factory {
  options: object;
  createFromUrl(url: string): Promise<object>;
}
const { AgentCard } = requireTool('@a2a-js/sdk') as {
  AgentCard: { fromJSON(served: object): Card; toJSON(card: Card): object };
};
const { ClientFactory, DefaultAgentCardResolver } = requireTool('@a2a-js/sdk/client') as {
  ClientFactory: new (options?: object) => Factory;
  DefaultAgentCardResolver: new (options?: { fetchImpl: typeof fetch }) => Resolver;
};

const rig = await createRig();

t.test('the client of A2A finds the card, and knows each of its fields', async (t) => {
  const { url } = await rig.start(t);
  const card = await new DefaultAgentCardResolver().resolve(url);
  t.equal(card.name, 'Simrack');
  t.equal(card.supportedInterfaces[0]?.url, `${url}/mcp`);
  t.ok(card.skills.every(({ id, name, description, tags }) => id && name && description && tags.length > 0));
  t.match(card.skills[0]?.description, /1,800 USDC/, 'the price is that of the sale');
  const served = (await (await fetch(`${url}/.well-known/agent-card.json`)).json()) as object;
  const known = AgentCard.toJSON(AgentCard.fromJSON(served));
  // The SDK leaves out what is false or empty.
  t.match(known, { ...served, capabilities: Object, skills: Array, securitySchemes: Object });
  for (const field of Object.keys(served)) t.ok(field in known, field);
});

t.test('a client of A2A sends no message to the tools, which are MCP', async (t) => {
  const { url } = await rig.start(t);
  const asked: string[] = [];
  const fetchImpl: typeof fetch = (input, init) => {
    asked.push(`${init?.method ?? 'GET'} ${new URL(String(input)).pathname}`);
    return fetch(input, init);
  };
  const factory = new ClientFactory({
    ...new ClientFactory().options,
    cardResolver: new DefaultAgentCardResolver({ fetchImpl }),
  });
  await t.rejects(factory.createFromUrl(url), { message: /No compatible transport/ });
  t.same(asked, ['GET /.well-known/agent-card.json']);
});

t.test('server.json is what registries of MCP servers take', async (t) => {
  const { url } = await rig.start(t, { serviceName: 'ü'.repeat(120) });
  const served = (await (await fetch(`${url}/server.json`)).json()) as Record<string, string>;
  // Bounds and pattern of the published schema, 2025-12-11 (ServerDetail).
  t.match(served['$schema'], /\/schemas\/2025-12-11\/server\.schema\.json$/);
  t.match(served['name'], /^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/);
  t.ok((served['description'] ?? '').length <= 100);
  t.ok([...(served['title'] ?? '')].length <= 100);
  t.match(served['version'], /^\d+\.\d+\.\d+$/);
  t.match(served['remotes'], [
    { type: 'streamable-http', url: `${url}/mcp`, headers: [{ name: 'Authorization', isSecret: true }] },
  ]);
});
