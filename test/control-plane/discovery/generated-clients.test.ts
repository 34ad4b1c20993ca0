// Clients that other people's generators make from /openapi.json: openapi-typescript with openapi-fetch, and hey-api.
import { execFile } from 'node:child_process';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import t from 'tap';
import { subscriber } from '../../fixtures/agents/subscriber.ts';
import { served } from '../../fixtures/network/served.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';
import { typeProblems } from '../../fixtures/type-problems.ts';
import { PROJECT_FOLDER } from '../../tidy/sources.ts';

const TOOLS = join(PROJECT_FOLDER, 'test/tools/node_modules');
const rig = await createRig();
const run = promisify(execFile);

const { url } = await rig.start(t);
const folder = temporaryFolder(t);
symlinkSync(TOOLS, join(folder, 'node_modules'));
const description = join(folder, 'openapi.json');
writeFileSync(description, await (await fetch(`${url}/openapi.json`)).text());

/** Compiles a program that uses a generated client, and returns what it exports. */
async function imported<T>(name: string, program: string): Promise<T> {
  writeFileSync(join(folder, `${name}.ts`), program);
  const outfile = join(folder, `${name}.mjs`);
  await build({
    entryPoints: [join(folder, `${name}.ts`)],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
  });
  return (await import(outfile)) as T;
}

/** All that TypeScript finds wrong in a file of the folder. */
const problemsOf = (name: string): string[] => typeProblems([join(folder, name)]).flat();

/** The headers of each request by path, answered with 401. */
async function listening() {
  const heard = new Map<string, IncomingHttpHeaders>();
  const server = createServer((request, response) => {
    heard.set(String(request.url), request.headers);
    response
      .writeHead(401, { 'Content-Type': 'application/json' })
      .end('{"error":"unauthorized","message":"x"}');
  });
  return { heard, base: await served(t, server) };
}

t.test('openapi-typescript and openapi-fetch: typed bodies, answers and refusals', async (t) => {
  const { url: service, headers } = await subscriber(t, rig);
  await run(process.execPath, [join(TOOLS, 'openapi-typescript/bin/cli.js'), description, '-o', 'api.ts'], {
    cwd: folder,
  });
  const { texts } = await imported<{
    texts(baseUrl: string, headers: object): Promise<object>;
  }>(
    'fetched',
    `import createClient from 'openapi-fetch';
import type { components, paths } from './api.ts';
export async function texts(baseUrl: string, headers: Record<string, string>) {
  const api = createClient<paths>({ baseUrl, headers });
  const sent = await api.POST('/sms/send', { body: { to: '+13105550188', body: 'hello' } });
  const refused = await api.POST('/sms/send', { body: { to: '+13105550188', body: '' } });
  const history = await api.GET('/sms/messages', { params: { query: { limit: 3, direction: 'sent' } } });
  const status: string | undefined = sent.data?.status;
  const code: string | undefined = refused.error?.error;
  const body: string | undefined = history.data?.messages[0]?.body;
  void (() => api.POST('/webhooks', { body: { url: 'https://example.org/' } }));
  void ((event: components['schemas']['WebhookBody']): string | undefined =>
    event.type === 'call.ended' ? event.data.reason : undefined);
  void (async () => {
    const { error } = await api.POST('/subscribe');
    const option = error !== undefined && 'accepts' in error ? error.accepts[0] : undefined;
    const sold: { amount?: string; method?: 'POST'; renewed?: boolean } = {
      amount: option?.amount,
      method: option?.outputSchema.input.method,
      renewed: option?.outputSchema.output.renewed,
    };
    // @ts-expect-error: the body of the request is empty
    const none: string | undefined = option?.outputSchema.input.body.length;
    return [sold, none];
  });
  // @ts-expect-error: a text needs a recipient
  void (() => api.POST('/sms/send', { body: { body: 'x' } }));
  return { status, code, body };
}`,
  );
  t.same(problemsOf('fetched.ts'), []);
  t.notMatch(readFileSync(join(folder, 'api.ts'), 'utf8'), /@enum \{unknown\}/, 'each code is a string');
  t.same(await texts(service, headers), { status: 'queued', code: 'invalid_request', body: 'hello' });
});

t.test('hey-api: the token goes into Authorization, and never into a payment', async (t) => {
  const { url: service, headers } = await subscriber(t, rig);
  const args = ['-i', description, '-o', 'hey', '-c', '@hey-api/client-fetch', '--no-log-file'];
  await run(process.execPath, [join(TOOLS, '@hey-api/openapi-ts/bin/run.js'), ...args], { cwd: folder });
  const { texts, all } = await imported<{
    texts(baseUrl: string, token: string): Promise<object>;
    all(baseUrl: string, token: string): Promise<void>;
  }>(
    'heyed',
    `import * as sdk from './hey/index.ts';
import { client } from './hey/client.gen.ts';
export async function texts(baseUrl: string, token: string) {
  client.setConfig({ baseUrl, auth: () => token });
  const sent = await sdk.sendSms({ body: { to: '+13105550188', body: 'hello' } });
  const refused = await sdk.sendSms({ body: { to: '+13105550188', body: '' } });
  const status: string | undefined = sent.data?.status;
  void (async () => {
    const { error } = await sdk.subscribe();
    const number: string | undefined =
      error !== undefined && 'accepts' in error ? error.accepts[0]?.outputSchema.output.number : error?.error;
    return number;
  });
  return { status, code: refused.error?.error };
}
export async function all(baseUrl: string, token: string) {
  client.setConfig({ baseUrl, auth: () => token });
  await sdk.getNumber();
  await sdk.subscribe();
}`,
  );
  t.same(problemsOf('heyed.ts'), []);
  const names = readFileSync(join(folder, 'hey/types.gen.ts'), 'utf8').matchAll(/^export type (\w+)/gm);
  t.same(
    [...names].map(([, name]) => name).filter((name) => /\d$/.test(name ?? '')),
    [],
    'no clash of names',
  );
  const token = headers.Authorization.replace('Bearer ', '');
  t.same(await texts(service, token), { status: 'queued', code: 'invalid_request' });
  const { heard, base } = await listening();
  await all(base, token);
  t.equal(heard.get('/number')?.authorization, `Bearer ${token}`);
  const subscribed = heard.get('/subscribe');
  t.ok(subscribed, 'it was asked');
  t.notMatch(JSON.stringify(subscribed), token);
});
