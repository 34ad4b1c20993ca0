// The rights of a page of another origin, in headers and in a real Chromium.
import { createServer } from 'node:http';
import t from 'tap';
import { openPage, skipWithoutBrowser, startBrowser } from '../../fixtures/browser.ts';
import { served } from '../../fixtures/network/served.ts';
import { createRig } from '../../fixtures/service/rig.ts';

const rig = await createRig();
const ORIGIN = 'https://agent.example';

t.test('a page may pay and show its token: preflight', async (t) => {
  const { url } = await rig.start(t);
  for (const [path, method, headers] of [
    ['/subscribe', 'POST', 'x-payment'],
    ['/subscribe', 'POST', 'payment-signature'],
    ['/sms/send', 'POST', 'authorization,content-type'],
    ['/mcp', 'POST', 'authorization,content-type,mcp-protocol-version'],
  ] as const) {
    const answer = await fetch(url + path, {
      method: 'OPTIONS',
      headers: {
        Origin: ORIGIN,
        'Access-Control-Request-Method': method,
        'Access-Control-Request-Headers': headers,
      },
    });
    t.equal(answer.status, 204);
    t.equal(answer.headers.get('access-control-allow-origin'), '*');
    t.match(answer.headers.get('access-control-allow-methods'), method);
    t.equal(answer.headers.get('access-control-allow-headers'), headers);
    t.equal(answer.headers.get('access-control-allow-credentials'), null, 'no cookie is any use here');
  }
});

t.test('every answer has a name, also a refusal, and its headers for browsers', async (t) => {
  const { url } = await rig.start(t);
  const names = new Set<string>();
  for (const [path, status] of [
    ['/availability', 200],
    ['/number', 401],
    ['/nope', 404],
    ['/demo', 405],
    ['/openapi.json', 200],
  ] as const) {
    const answer = await fetch(url + path, { headers: { Origin: ORIGIN } });
    t.equal(answer.status, status);
    t.equal(answer.headers.get('access-control-allow-origin'), '*', `${path}: a page reads why`);
    t.equal(answer.headers.get('x-content-type-options'), 'nosniff');
    t.equal(answer.headers.get('referrer-policy'), 'no-referrer');
    t.equal(answer.headers.get('strict-transport-security'), null, 'http only');
    const name = answer.headers.get('x-request-id') ?? '';
    t.match(name, /^[0-9a-f-]{36}$/);
    names.add(name);
    const body = (await answer.json()) as { request_id?: string };
    if (status >= 400) t.equal(body.request_id, name);
  }
  t.equal(names.size, 5);
  const { service } = await rig.start(t, { publicUrl: 'https://sms.example' });
  const behindTls = await fetch(`http://127.0.0.1:${service.port}/availability`);
  t.match(behindTls.headers.get('strict-transport-security'), /^max-age=\d{8}/);
});

t.test('in a browser, from another origin', { skip: skipWithoutBrowser() }, async (t) => {
  const { url } = await rig.start(t);
  const elsewhere = createServer((_, response) => response.end('<!doctype html><title>elsewhere</title>'));
  const { page } = await openPage(t, await startBrowser(t));
  await page.goto(await served(t, elsewhere));
  const read = (await page.evaluate(`(async () => {
    const answer = await fetch('${url}/subscribe', { method: 'POST', headers: { 'X-PAYMENT': 'bm9uc2Vuc2U=' } });
    return [answer.status, answer.headers.get('PAYMENT-REQUIRED'), answer.headers.get('WWW-Authenticate')];
  })()`)) as [number, string, string];
  t.equal(read[0], 402);
  t.match(JSON.parse(Buffer.from(read[1], 'base64').toString()), { x402Version: 2 });
  t.match(read[2], /^Payment /);
});
