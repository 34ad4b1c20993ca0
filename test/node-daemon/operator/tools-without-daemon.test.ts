// The operator's tools where no daemon runs: on the modems themselves, for a while, and nothing is lost.
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import t from 'tap';
import { type Ran, runProgram } from '../../fixtures/run-program.ts';
import { until } from '../../fixtures/until.ts';
import { ended, startToolRig } from './tool-rig.ts';

const STRANGER = '+12065559999';
const SMS = { from: STRANGER };

t.test(
  'list, at, send, ussd and sms work, and messages that arrive are reported when the daemon runs',
  async (t) => {
    const { simulator, tool, plane, startDaemon } = await startToolRig(t, { modems: 3 });
    const number = String(simulator.modems[0]?.number);
    const listed = await tool('list');
    t.match(listed, { status: 0, stderr: /^no daemon uses .*, so this command opens the modems\n$/ });
    t.equal(listed.stdout.match(/in service/g)?.length, 3);
    t.same((await tool('at', '1-1.2', 'AT+CSQ')).stdout, '+CSQ: 21,99\nOK\n');
    t.match(await tool('ussd', '1-1.1', '*102#', '--reply', '1'), { status: 0, stdout: /^Your balance/ });
    t.match(await tool('send', '1-1.1', STRANGER, 'hello'), { status: 0, stdout: /^accepted/ });
    t.match(simulator.carrier.heard(), [{ body: 'hello' }]);

    simulator.carrier.send({ ...SMS, to: number, body: 'came while no daemon ran' });
    const shown = await tool('sms', '1-1.1');
    t.match(shown, { status: 0, stdout: /journal: 1 not yet acknowledged/ });
    t.match(shown.stdout, 'came while no daemon ran');
    t.match(await tool('sms', '1-1.1'), { stdout: 'came while no daemon ran' }, 'it is kept');
    t.equal(plane.upgrades.length, 0, 'a tool makes no link');

    const daemon = await startDaemon();
    await until('it is reported', () => plane.factsOf('sms_received').length > 0);
    t.match(plane.factsOf('sms_received'), [{ from: STRANGER, body: 'came while no daemon ran' }]);
    t.match(plane.factsOf('sms_outcome'), [{ command_id: /^operator_/, outcome: { status: 'accepted' } }]);
    t.equal((await tool('list')).stderr, '', 'the daemon answers now');
    await ended(daemon, 'SIGKILL');
    t.match(
      await tool('list'),
      { status: 0, stderr: /^no daemon uses/ },
      'a socket that a kill left is no daemon',
    );
  },
);

t.test('a tool that is killed with the modems leaves them to the next', async (t) => {
  const { simulator, tool, toolWith } = await startToolRig(t, { modems: 1 });
  const [modem] = simulator.modems;
  const killed = await toolWith(['ussd', '1-1.1', '*103#'], (child) => {
    void modem?.expectCommand(/CUSD=1/, { timeoutMs: 60_000 }).then(() => child.kill('SIGKILL'));
  });
  t.equal(killed.status, null);
  t.match(await tool('ussd', '1-1.1', '*100#'), { status: 0, stdout: /^Your balance/ });
});

t.test('two tools at once do not fight for a port', async (t) => {
  const { simulator, tool, toolWith } = await startToolRig(t, { modems: 1 });
  const [modem] = simulator.modems;
  let second: Ran | undefined;
  await toolWith(['ussd', '1-1.1', '*103#'], (child) => {
    void modem?.expectCommand(/CUSD=1/, { timeoutMs: 60_000 }).then(async () => {
      second = await tool('list');
      child.kill('SIGKILL');
    });
  });
  t.match(second, {
    status: 4,
    stderr: /in use by "node-daemon ussd" \(pid \d+\), which uses the modems.*try again/,
  });
});

t.test(
  'a daemon that cannot start names the tool that has the modems, and starts when that has ended',
  async (t) => {
    const rig = await startToolRig(t, { modems: 1 });
    let seen = '';
    let refused: Ran | undefined;
    await rig.toolWith(['watch'], (child) => {
      child.stderr?.on('data', (chunk) => {
        seen += String(chunk);
      });
      void until('it watches', () => seen.includes('no daemon can start until Ctrl-C'), 60_000).then(
        async () => {
          refused = await runProgram('node-daemon', [], rig.env);
          t.match(
            refused.stderr,
            `in use by "node-daemon watch" (pid ${child.pid}), which uses the modems until it ends`,
          );
          child.kill('SIGINT');
        },
      );
    });
    t.match(refused, { status: 1 });
    const daemon = await rig.startDaemon();
    t.equal(daemon.exitCode, null);
    await ended(daemon, 'SIGTERM');
  },
);

const isRoot = process.getuid?.() === 0;
const rootOnly = { skip: isRoot ? false : 'only root may give folders away' };

t.test('root runs no daemon and no tool on the folder of another user', rootOnly, async (t) => {
  const { dataDir, env, tool } = await startToolRig(t, { modems: 0 });
  chownSync(dataDir, 2, 2);
  for (const ran of [await runProgram('node-daemon', [], env), await tool('list')]) {
    t.not(ran.status, 0);
    t.match(ran.stderr, `${dataDir} belongs to bin. Run the command as that user: sudo -u bin node-daemon`);
  }
  t.equal((await tool('list')).status, 4);
  t.same(readdirSync(dataDir), ['identity.json'], 'nothing of root’s is in it');
});

t.test('a mistyped data folder is refused, and a text that waits stays for the daemon', async (t) => {
  const { dataDir, env, simulator, tool } = await startToolRig(t, { modems: 1 });
  const text = { ...SMS, to: String(simulator.modems[0]?.number), body: 'waits for its daemon' };
  simulator.carrier.send(text);
  const missing = join(dataDir, 'no/such');
  for (const command of [['list'], ['sms', '1-1.1'], ['watch'], ['doctor']]) {
    const ran = await runProgram('node-daemon', [...command, '--data-dir', missing], env);
    t.notOk(existsSync(missing), `${command[0]} makes no folder`);
    t.match(ran.stderr + ran.stdout, `no daemon runs, and the data folder ${missing} does not exist`);
    t.equal(ran.status, command[0] === 'doctor' ? 2 : 4);
  }
  const strange = join(dataDir, 'strange');
  mkdirSync(strange);
  t.match(await tool('list', '--data-dir', strange), {
    status: 4,
    stderr: /not the data folder of a daemon/,
  });
  t.same(readdirSync(strange), []);
  t.match(await tool('list', '--data-dir', join(dataDir, 'identity.json')), {
    status: 4,
    stderr: /is not a folder/,
  });
  t.match((await tool('sms', '1-1.1')).stdout, text.body, 'the tool with the right folder finds it');
});

t.test('the reason that keeps a tool from the modems is printed', async (t) => {
  const { dataDir, tool } = await startToolRig(t, { modems: 0 }, 'slots: [{ name: attic, usb_path: 1-9 }]');
  t.match(await tool('list'), { status: 0, stdout: /attic +modem lost: not plugged in / });
  t.match(await tool('at', 'attic', 'AT'), { status: 2, stderr: 'slot attic has no modem' });
  t.match(await tool('at', 'atic', 'AT'), { status: 1, stderr: 'did you mean attic?' });
  t.match(await tool('list', '--config', '/nonexistent.yaml'), {
    status: 1,
    stderr: '/nonexistent.yaml: does not exist',
  });
  const other = createServer((_, response) => response.end('<html>'));
  other.listen(join(dataDir, 'operator.sock'));
  t.match(await tool('list'), { status: 4, stderr: /another program listens/ });
  await new Promise((resolve) => other.close(resolve));
  const folder = join(dataDir, 'closed');
  mkdirSync(folder);
  if (process.getuid?.() === 0) return;
  chmodSync(folder, 0o000);
  t.match(await tool('list', '--data-dir', folder), {
    status: 4,
    stderr: /cannot use the data folder itself/,
  });
});

t.test('the socket may be elsewhere; a file in its way is left alone', async (t) => {
  const rig = await startToolRig(t, { modems: 1 }, 'operator_socket: %DIR%/run/node.sock');
  const daemon = await rig.startDaemon();
  const listed = await rig.tool('list');
  t.match(listed, { status: 0, stderr: '' });
  t.match(
    await rig.tool('list', '--data-dir', join(rig.dataDir, 'other')),
    { stderr: '' },
    'found by the file',
  );
  await ended(daemon, 'SIGTERM');
  const path = join(rig.dataDir, '../run/node.sock');
  writeFileSync(path, 'precious');
  const again = await rig.startDaemon();
  t.equal(again.exitCode, null, 'numbers are served without tools');
  t.match(await rig.tool('list'), { status: 4 });
});
