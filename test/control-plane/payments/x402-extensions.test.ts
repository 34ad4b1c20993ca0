// Indexes of paid resources: the package of x402 reads and validates what the 402 says, in both versions.
import t from 'tap';
import { subscribedSchema } from '#shared/api/answers.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { requireTool } from '../../fixtures/tools.ts';

const rig = await createRig();

type Json = Record<string, unknown>;

interface Found {
  discoveryInfo: { output?: { example: unknown } };
}
const {
  declareDiscoveryExtension,
  extractDiscoveryInfo,
  extractDiscoveryInfoV1,
  sanitizeResourceServiceMetadata,
  validateDiscoveryExtension,
  validateDiscoveryExtensionSpec,
} = requireTool('@x402/extensions/bazaar') as {
  declareDiscoveryExtension(config: object): { bazaar: { schema: object } };
  extractDiscoveryInfo(payload: object, option: Json | undefined): Found | null;
  extractDiscoveryInfoV1(option: Json): object | null;
  sanitizeResourceServiceMetadata(resource: Json): object;
  validateDiscoveryExtension(bazaar: Json): object;
  validateDiscoveryExtensionSpec(bazaar: Json): object;
};

async function challenge(url: string) {
  const response = await fetch(`${url}/subscribe`, { method: 'POST' });
  const header = response.headers.get('payment-required') ?? '';
  const required = JSON.parse(Buffer.from(header, 'base64').toString()) as {
    resource: Json;
    accepts: Json[];
    extensions: { bazaar: Json };
  };
  return { header, required, body: (await response.json()) as { accepts: Json[] } };
}

t.test('the extension of v2 is valid, and a facilitator lists the number', async (t) => {
  const { url } = await rig.start(t);
  const { header, required } = await challenge(url);
  const { bazaar } = required.extensions;
  t.same(validateDiscoveryExtensionSpec(bazaar), { valid: true });
  t.same(validateDiscoveryExtension(bazaar), { valid: true });
  const payload = { x402Version: 2, ...required, accepted: required.accepts[0], payload: {} };
  const found = extractDiscoveryInfo(payload, required.accepts[0]);
  t.match(found, { resourceUrl: `${url}/subscribe`, method: 'POST', discoveryInfo: { input: { body: {} } } });
  t.ok(
    subscribedSchema.strict().safeParse(found?.discoveryInfo.output?.example).success,
    'the example has the fields of the answer',
  );
  // The package's own declaration for such a request, apart from the method, which its middleware adds.
  const own = declareDiscoveryExtension({ bodyType: 'json', input: {} }).bazaar;
  t.same(Object.keys(bazaar['schema'] as object).sort(), Object.keys(own.schema).sort());
  t.ok(header.length < 4_096, `${header.length} characters`);
});

t.test('name and tags survive the rules of an index', async (t) => {
  const { url } = await rig.start(t);
  const { resource } = (await challenge(url)).required;
  t.match(sanitizeResourceServiceMetadata(resource), {
    serviceName: 'Simrack',
    tags: resource['tags'],
  });
  for (const serviceName of ['é', 'a'.repeat(33)]) {
    const { url: named } = await rig.start(t, { serviceName });
    t.notOk('serviceName' in (await challenge(named)).required.resource, serviceName);
  }
});

t.test('an index of v1 finds each payment option', async (t) => {
  const { url } = await rig.start(t);
  const { accepts } = (await challenge(url)).body;
  t.ok(accepts.length > 0);
  for (const option of accepts)
    t.match(extractDiscoveryInfoV1(option), {
      input: { type: 'http', method: 'POST' },
      output: Object,
    });
});
