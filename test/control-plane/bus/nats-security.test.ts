// NATS with TLS and with credentials in a file: what is let in, what is refused, and that no secret goes to a server without TLS.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect as connectTo } from '@nats-io/transport-node';
import t, { type Test } from 'tap';
import { MessageSeal } from '#control-plane/bus/message-seal.ts';
import { openNatsBus } from '#control-plane/bus/nats-bus.ts';
import type { NatsOptions } from '#control-plane/bus/nats-options.ts';
import { checkBusOptions } from '#control-plane/config/bus-options.ts';
import { systemClock } from '#shared/clock.ts';
import { recordedLog } from '../../fixtures/recorded-log.ts';
import { skipWithoutNats, startNats } from '../../fixtures/service/nats.ts';
import { accreditedServer, certifiedServer } from '../../fixtures/service/nats-authority.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';
import { until } from '../../fixtures/until.ts';

const skip = skipWithoutNats();

async function instance(t: Test, url: string, options: Partial<NatsOptions> = {}) {
  const { log, lines } = recordedLog();
  const bus = await openNatsBus({
    options: { servers: [url], credentialsFile: undefined, caFile: undefined, ...options },
    seal: new MessageSeal('a secret'),
    prefix: 'p',
    clock: systemClock,
    log,
  });
  t.teardown(() => bus.stop());
  return { bus, lines };
}

t.test('a stranger on the server cannot read what instances say', { skip }, async (t) => {
  const { url } = await startNats(t);
  const [one, other] = [await instance(t, url), await instance(t, url)];
  const stranger = await connectTo({ servers: url.replace('nats://', '') });
  t.teardown(() => stranger.close());
  const seen: string[] = [];
  stranger.subscribe('>', {
    callback: (_error, { data }) => void seen.push(Buffer.from(data).toString('latin1')),
  });
  await stranger.flush();
  other.bus.serve('node.rack-1', async () => ({ heard: 'the answer' }));
  const ask = () => one.bus.request('node.rack-1', { body: 'the question' }, { timeoutMs: 1_000 });
  await until('served', () => ask().catch(() => undefined));
  await until('question and answer, twice', () => seen.length >= 4);
  t.notMatch(seen.join(), /question|answer|body|heard/);
});

t.test('a user who may not subscribe, and a server for short answers only', { skip }, async (t) => {
  const file = join(temporaryFolder(t), 'nats.conf');
  writeFileSync(
    file,
    `max_payload: 65536
authorization { users: [
  { user: u, password: p, permissions: { subscribe: ["*.events", "_INBOX.>", "p.node.rack-1"] } }
] }`,
  );
  const { url } = await startNats(t, ['--config', file]);
  const address = url.replace('nats://', 'nats://u:p@');
  const [one, other] = [await instance(t, address), await instance(t, address)];
  other.bus.serve('node.rack-2', async () => 1);
  await until('it is logged', () => other.lines.length > 0);
  t.match(other.lines, [
    { message: 'NATS refuses a subscription of this service', fields: { subject: 'p.node.rack-2' } },
  ]);
  other.bus.serve('node.rack-1', async (length) => 'x'.repeat(Number(length)));
  const ask = (length: number) => one.bus.request('node.rack-1', length, { timeoutMs: 2_000 });
  await until('served', () => ask(1).catch(() => undefined));
  await t.rejects(ask(100_000), { name: 'NoAnswer', message: /its answer is too long for NATS/ });
  t.equal(await ask(1), 'x', 'it serves on');
});

t.test('TLS with a certificate of an own authority', { skip }, async (t) => {
  const { caFile, options } = certifiedServer(t);
  const { url } = await startNats(t, options);
  const secure = url.replace('nats:', 'tls:');
  const [one, other] = [await instance(t, secure, { caFile }), await instance(t, secure, { caFile })];
  t.same([one.bus.isConnected, other.bus.isConnected], [true, true]);
  other.bus.serve('node.rack-1', async (request) => ({ got: request }));
  const answer = await until('served', () =>
    one.bus.request('node.rack-1', 1, { timeoutMs: 1_000 }).catch(() => undefined),
  );
  t.same(answer, { got: 1 });
  for (const untrusted of [undefined, certifiedServer(t).caFile]) {
    const { bus, lines } = await instance(t, secure, { caFile: untrusted });
    t.equal(bus.isConnected, false, 'its certificate is not trusted');
    t.match(lines, [{ level: 'warn', message: /no NATS server answers/ }]);
  }
});

t.test('a server without TLS gets no password of a tls:// URL', { skip }, async (t) => {
  const { url } = await startNats(t, ['--user', 'u', '--pass', 'p']);
  const { bus } = await instance(t, url.replace('nats://', 'tls://u:p@'));
  t.equal(bus.isConnected, false);
});

t.test('credentials in a file: a user of the account is let in, a stranger is not', { skip }, async (t) => {
  const { credentialsFile, options, strangersFile } = accreditedServer(t);
  const { url } = await startNats(t, options);
  t.ok((await instance(t, url, { credentialsFile })).bus.isConnected);
  await t.rejects(instance(t, url, { credentialsFile: strangersFile }), /NATS refuses this service/);
  await t.rejects(instance(t, url), /NATS refuses this service/, 'without any');
});

t.test('files that are not there or of no use end the start, with the name of the option', async (t) => {
  const folder = temporaryFolder(t);
  const missing = join(folder, 'missing');
  const useless = join(folder, 'useless');
  writeFileSync(useless, 'nothing');
  const url = 'tls://127.0.0.1:1';
  await t.rejects(instance(t, url, { credentialsFile: missing }), /NATS_CREDENTIALS_FILE.*ENOENT/);
  await t.rejects(instance(t, url, { credentialsFile: useless }), /NATS_CREDENTIALS_FILE/);
  await t.rejects(instance(t, url, { caFile: missing }), /NATS_CA_FILE.*ENOENT/);
  await t.rejects(instance(t, url, { caFile: useless }), /NATS_CA_FILE/);
});

t.test('an authority without TLS is a mistake', async (t) => {
  const options = { databaseUrl: 'postgres://db', publicUrl: undefined, mediaBaseUrl: undefined };
  const natsCaFile = 'ca.pem';
  t.throws(
    () => checkBusOptions({ ...options, natsUrl: ['nats://a:1'], natsCaFile }),
    /tls:\/\/ in NATS_URL/,
  );
  t.doesNotThrow(() => checkBusOptions({ ...options, natsUrl: ['tls://a:1', 'nats://b:1'], natsCaFile }));
});
