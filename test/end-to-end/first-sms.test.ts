// From a bare Debian to the first SMS by the operator's script: package, real systemd, real control plane, simulated modem.
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { ALICE } from '../dev-stack/wallets.ts';
import { subscribeInStore } from '../fixtures/agents/subscribed.ts';
import { freePort } from '../fixtures/network/free-port.ts';
import { nodeCode } from '../fixtures/nodes/enrolled-node.ts';
import { daemonPackage } from '../fixtures/packages/built-packages.ts';
import { whyNoDebianHost } from '../fixtures/packages/debian-host.ts';
import { startRackedHost } from '../fixtures/packages/installed-daemon.ts';
import { createRig } from '../fixtures/service/rig.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { until } from '../fixtures/until.ts';
import { PROJECT_FOLDER } from '../tidy/sources.ts';

const SECONDS_MAX = 300;

const skip = whyNoDebianHost() ?? false;
if (skip === false) {
  const rig = await createRig();
  t.test('the script prints each step and ends with an SMS at the control plane', (t) => firstSms(t, rig));
} else t.pass(`not on a Debian host: ${skip}`, { skip: true });

async function firstSms(t: Test, rig: Awaited<ReturnType<typeof createRig>>): Promise<void> {
  const { url, databaseUrl } = await rig.start(t);
  const { host, simulator } = await startRackedHost(t, 1);
  const { file } = await daemonPackage('0.1.0', temporaryFolder(t));
  copyFileSync(file, join(host.shared, 'package.deb'));
  copyFileSync(join(PROJECT_FOLDER, 'node-daemon/package/first-sms.sh'), join(host.shared, 'first-sms.sh'));
  const number = simulator.modems[0]?.identity.number;
  const words = ['/srv/shared/package.deb', url, await nodeCode(url, 'cupboard'), simulator.url, number];
  const printed = await host.must(
    `METRICS_PORT=${await freePort()} sh /srv/shared/first-sms.sh ${words.join(' ')} 2>&1`,
  );
  for (const step of ['Install the package', 'enrolled as cupboard', '1 of 1 slot registered, linked'])
    t.match(printed, step);
  const seconds = Number(
    /\[(\d+) s\] The node is enrolled and has received its first SMS/.exec(printed)?.[1],
  );
  t.ok(seconds < SECONDS_MAX, `${seconds} s`);
  for (const line of printed.match(/^\[\d+ s\].*$/gm) ?? []) t.comment(line);

  const { headers } = await subscribeInStore(databaseUrl, ALICE, String(number));
  await fetch(`${simulator.url}/sms`, {
    method: 'POST',
    body: JSON.stringify({ from: '+13105550188', to: number, body: 'for Alice' }),
  });
  const body = await until('her message', async () => {
    const answer = await (await fetch(`${url}/sms/receive`, { headers })).text();
    return answer.includes('for Alice') ? answer : undefined;
  });
  t.match(body, 'for Alice');
}
