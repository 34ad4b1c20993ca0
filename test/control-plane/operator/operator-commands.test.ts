// `control-plane operator …` on the embedded database, through the service that has it, and on the console of that service.
import t from 'tap';
import { startPaidChain } from '../../fixtures/chain/paid-chain.ts';
import { runCommand } from '../../fixtures/run-command.ts';
import { startControlPlane } from '../../fixtures/service/control-plane.ts';
import { signedIn, signIn } from '../../fixtures/service/fleet-console.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';

const chain = await startPaidChain();
t.teardown(() => chain.stop());

t.test('added, listed, removed; signed in meanwhile, and not after', { timeout: 120_000 }, async (t) => {
  const dataDir = temporaryFolder(t);
  const service = await startControlPlane(chain, { dataDir, consolePort: 0 });
  t.teardown(() => service.stop());
  const consoleUrl = String(service.consoleUrl);
  const control = (...args: string[]) => runCommand(args, { DATA_DIR: dataDir });
  const added = await control('operator', 'add', 'ann');
  t.match(added, { status: 0, stderr: '' });
  const key = /^(simrack_operator_[\w-]{43})$/m.exec(added.stdout)?.[1] ?? '';
  const client = await signedIn(consoleUrl, key);
  t.match(await client.page('/'), 'Nothing needs attention');
  t.match(await control('operator', 'add', 'ann'), { status: 2, stderr: /Operator "ann" already exists/ });
  t.match(await control('operator', 'add', 'ann<b>'), { status: 1, stderr: /must have at most 40 letters/ });
  const listed = await control('operator', 'list', '--json');
  t.match(JSON.parse(listed.stdout), { operators: [{ name: 'ann', sessions: 1 }] });
  t.notMatch(listed.stdout, key);
  t.match(await client.page('/audit'), /command line<.*add operator.*ann/s);
  t.match(await control('operator', 'remove', 'ann'), { status: 0, stderr: '' });
  t.equal((await client.get('/', { Accept: 'text/html' })).status, 302);
  t.equal((await signIn(consoleUrl, key)).status, 403);
  t.match(await control('operator', 'remove', 'ann'), { status: 2, stderr: /There is no operator/ });
});
