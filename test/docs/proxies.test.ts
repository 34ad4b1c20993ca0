// The files for Caddy and nginx in docs/service, with the real programs: TLS, WebSockets, the address of a client.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { telephone, telephoneClient } from '../fixtures/agents/telephone.ts';
import { freePort } from '../fixtures/network/free-port.ts';
import { createRig } from '../fixtures/service/rig.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { until } from '../fixtures/until.ts';
import { PROJECT_FOLDER } from '../tidy/sources.ts';

const rig = await createRig();
const LIMIT = 100_000;

interface Proxy {
  name: string;
  command: string;
  /** The files that its folder must hold, made from the file of the documentation. Returns its arguments. */
  prepare(written: string, ports: { port: number; service: number }, folder: string): string[];
}

/** The documented file with other ports and names; each of them must be there. */
function replaced(written: string, changes: ReadonlyArray<readonly [string, string]>): string {
  return changes.reduce((result, [from, to]) => {
    if (!result.includes(from)) throw new Error(`the file does not have: ${from}`);
    return result.replace(from, to);
  }, written);
}

const CADDY: Proxy = {
  name: 'Caddyfile',
  command: 'caddy',
  prepare(written, { port, service }, folder) {
    const config = replaced(written, [
      ['sms.example.com {', `https://localhost:${port} {\n\tbind 127.0.0.1\n\ttls internal`],
      ['127.0.0.1:8080', `127.0.0.1:${service}`],
    ]);
    const global = '{\n\tadmin off\n\tauto_https disable_redirects\n\tskip_install_trust\n}\n';
    writeFileSync(join(folder, 'Caddyfile'), global + config);
    return ['run', '--config', join(folder, 'Caddyfile'), '--adapter', 'caddyfile'];
  },
};

const NGINX: Proxy = {
  name: 'nginx.conf',
  command: 'nginx',
  prepare(written, { port, service }, folder) {
    execFileSync(
      'openssl',
      [
        'req',
        '-x509',
        '-newkey',
        'ec',
        '-pkeyopt',
        'ec_paramgen_curve:prime256v1',
        '-nodes',
        '-days',
        '1',
        '-subj',
        '/CN=localhost',
        '-keyout',
        join(folder, 'key.pem'),
        '-out',
        join(folder, 'cert.pem'),
      ],
      { stdio: 'ignore' },
    );
    const site = replaced(written, [
      ['listen 443 ssl;', `listen 127.0.0.1:${port} ssl;`],
      ['listen [::]:443 ssl;', ''],
      ['server_name sms.example.com;', 'server_name localhost;'],
      ['/etc/letsencrypt/live/sms.example.com/fullchain.pem', join(folder, 'cert.pem')],
      ['/etc/letsencrypt/live/sms.example.com/privkey.pem', join(folder, 'key.pem')],
      ['127.0.0.1:8080', `127.0.0.1:${service}`],
    ]);
    writeFileSync(join(folder, 'site.conf'), site);
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (name) => `${name}_temp_path ${folder}/${name};`,
    );
    const main = `${process.getuid?.() === 0 ? 'user root;' : ''} daemon off; worker_processes 1; pid ${folder}/pid;
      error_log stderr; events {} http { access_log off; ${temporary.join(' ')} include ${folder}/site.conf; }`;
    writeFileSync(join(folder, 'main.conf'), main);
    return ['-p', folder, '-c', join(folder, 'main.conf'), '-e', 'stderr'];
  },
};

/** One request by TLS; `from` is an address of loopback. */
async function ask(
  port: number,
  path: string,
  {
    from = '127.0.0.1',
    body,
    ...options
  }: { method?: string; headers?: object; from?: string; body?: Buffer } = {},
) {
  const target = { host: '127.0.0.1', servername: 'localhost', port, path, rejectUnauthorized: false };
  const headers = { Host: `localhost:${port}`, ...options.headers };
  const sent = request({
    ...target,
    localAddress: from,
    method: options.method ?? 'GET',
    headers,
    agent: false,
  });
  sent.end(body);
  const [response] = await once(sent, 'response');
  return { status: response.statusCode as number, headers: response.headers, body: await text(response) };
}

/** Starts the program on a free port. It ends with the test. */
async function startProxy(t: Test, proxy: Proxy, serviceUrl: string): Promise<number> {
  const folder = temporaryFolder(t);
  const written = readFileSync(join(PROJECT_FOLDER, 'docs/service', proxy.name), 'utf8');
  const port = await freePort();
  const args = proxy.prepare(written, { port, service: Number(new URL(serviceUrl).port) }, folder);
  const env = {
    PATH: String(process.env['PATH']),
    HOME: folder,
    XDG_DATA_HOME: folder,
    XDG_CONFIG_HOME: folder,
  };
  const child = spawn(proxy.command, args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  const exited = once(child, 'exit');
  t.teardown(async () => {
    child.kill('SIGTERM');
    await exited;
  });
  let said = '';
  child.stderr.on('data', (chunk) => {
    said += String(chunk);
  });
  await until('the proxy answers', async () => {
    if (child.exitCode !== null) throw new Error(`${proxy.command} ended: ${said}`);
    const answer = await ask(port, '/health/live').catch(() => undefined);
    return answer?.status === 200;
  });
  return port;
}

for (const proxy of [CADDY, NGINX]) {
  const isThere = spawnSync(proxy.command, [proxy === NGINX ? '-v' : 'version']).status === 0;
  const skip = isThere ? false : `${proxy.command} is not installed`;

  t.test(`${proxy.name}: requests, addresses, WebSockets`, { skip }, async (t) => {
    const alice = await telephone(t, rig, { service: { proxyHops: 1, requestsPerMinute: LIMIT } });
    const port = await startProxy(t, proxy, alice.url);
    const url = `https://localhost:${port}`;

    const challenge = await ask(port, '/subscribe', { method: 'POST' });
    t.equal(challenge.status, 402);
    t.ok(challenge.headers['payment-required'], 'headers come through');
    const paid = { 'X-PAYMENT': 'A'.repeat(8_000) };
    t.match(JSON.parse((await ask(port, '/subscribe', { method: 'POST', headers: paid })).body), {
      error: 'invalid_encoding',
    });
    const headers = { ...alice.headers, 'Content-Type': 'application/json' };
    const large = await ask(port, '/sms/send', {
      method: 'POST',
      headers,
      body: Buffer.alloc(2_000_000, ' '),
    });
    t.match(
      JSON.parse(large.body),
      { error: 'payload_too_large' },
      'the service itself refuses a large body',
    );

    const left = async (more?: object): Promise<number> => {
      const answer = await ask(port, '/availability', { from: '127.0.0.2', headers: { ...more } });
      return Number(/r=(\d+)/.exec(String(answer.headers['ratelimit']))?.[1]);
    };
    t.equal(await left(), LIMIT - 1, 'the first request of this address');
    t.equal(await left({ 'X-Forwarded-For': '203.0.113.9' }), LIMIT - 2, 'a client cannot claim another one');

    const { open } = telephoneClient(t, { url, headers: alice.headers, number: alice.number });
    const trusting = { rejectUnauthorized: false };
    const presence = await open(`/voice/presence/${alice.number}`, trusting);
    const { call_id: callId } = alice.line.ring();
    await until('the ring', () => presence.of({ kind: 'ringing', call_id: callId })[0]);
    const stream = await open(`/voice/stream/${callId}`, { protocols: ['voice.v1'], ...trusting });
    const media = await until('the media link', () => alice.line.media);
    await until('the call is answered', () => stream.of({ type: 'answered' })[0]);
    media.capture(Buffer.alloc(640, 1));
    t.same(await until('audio', () => stream.binary[0]), Buffer.alloc(640, 1));
    stream.socket.close();
    await until('the end', () => presence.of({ kind: 'ended', call_id: callId })[0]);
  });
}

t.test('the page shows both files', async (t) => {
  const page = readFileSync(join(PROJECT_FOLDER, 'docs/service/tls-proxy.md'), 'utf8');
  for (const { name } of [CADDY, NGINX])
    t.ok(
      page.includes(`\n${readFileSync(join(PROJECT_FOLDER, 'docs/service', name), 'utf8')}\`\`\`\n`),
      name,
    );
});
