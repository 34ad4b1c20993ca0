// The pages for operators beside `npm start`: their commands get the settings of the service, a refund is possible, and a further modem sells.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { privateKeyToAccount } from 'viem/accounts';
import { connectAnvil } from '../dev-stack/anvil-client.ts';
import { runCommand } from '../fixtures/run-command.ts';
import { runProgram } from '../fixtures/run-program.ts';
import { startStack } from '../fixtures/stacks/started-stack.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { until } from '../fixtures/until.ts';
import { PROJECT_FOLDER } from '../tidy/sources.ts';
import { blockWith } from './pages.ts';

t.test(
  'operator commands, a refund and a modem of ours beside npm start',
  { timeout: 380_000 },
  async (t) => {
    const dataDir = temporaryFolder(t);
    const receiver = createServer((_, response) => response.end()).listen(0, '127.0.0.1');
    t.teardown(() => receiver.close());
    await once(receiver, 'listening');
    const webhook = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
    const stack = await startStack(t, {
      dataDir,
      env: {
        MODEMS: '1',
        CONTROL_PLANES: '1',
        ALERT_WEBHOOK_URL: webhook,
        ALERT_WEBHOOK_SECRET: `whsec_${'A'.repeat(40)}`,
      },
    });
    const { base_url: url, pay_to: payTo, rpc_url: rpcUrl } = stack.file();
    const env = { PATH: String(process.env['PATH']), HOME: temporaryFolder(t) };
    /** In a shell in the project's folder, with the data of this stack. */
    const paste = async (code: string, own: Record<string, string> = {}) => {
      const line = code.replaceAll('data/control-plane.env', join(dataDir, 'control-plane.env'));
      const shell = spawn('sh', ['-uc', line], { cwd: PROJECT_FOLDER, env: { ...env, ...own } });
      const [stdout, stderr] = await Promise.all([text(shell.stdout), text(shell.stderr)]);
      return { stdout, stderr };
    };

    const settings = blockWith('service/index.md', 'data/control-plane.env');
    const read = settings.split('\n')[0];
    const shown = await paste(settings);
    t.match(shown.stdout, /checks: 0 problems/, shown.stderr);
    t.match(shown.stdout, /0xf39Fd6e5\w+\n +balance +\d+ ether/);
    const program = `${read}\nnode control-plane/bin.mjs`;
    t.match(await paste(`${program} alert test`), { stdout: /webhook: sent/ }, 'it knows the recipient');
    t.match((await paste(`${program} relayer rotate ${dataDir}/next.key`)).stdout, /is the new relayer/);
    const { stdout: keyFile } = await paste(`${read}\nprintf %s "$REFUND_KEY_FILE"`);
    const key = readFileSync(keyFile, 'utf8').trim() as `0x${string}`;
    t.equal(privateKeyToAccount(key).address, payTo, 'the key of the account that is paid');

    const folder = temporaryFolder(t);
    const simulate = ['simulate', '--modems', '1', '--dir', folder];
    const rack = spawn(process.execPath, ['node-daemon/bin.cjs', ...simulate], { cwd: PROJECT_FOLDER, env });
    t.teardown(() => rack.kill('SIGINT'));
    let printed = '';
    rack.stdout.on('data', (chunk) => {
      printed += String(chunk);
    });
    rack.stderr.resume();
    const curl = await until('the rack is up', () => /^ {2}curl .*$/m.exec(printed)?.[0], 60_000);
    const [, nodeFolder = ''] = await until(
      'the commands',
      () => /list --data-dir (\S+)/.exec(printed) ?? undefined,
    );
    const control = (...args: string[]) => runCommand(args, { DATA_DIR: dataDir });
    const [code = ''] = (await control('node', 'add', 'rack-7')).stdout.split('\n');
    t.match(await runProgram('node-daemon', ['enroll', url, code, '--data-dir', nodeFolder], {}), {
      status: 0,
    });
    await until(
      'the number can be sold',
      async () => (await control('number', 'list', '--state', 'available')).stdout.includes('+12065550164'),
      60_000,
    );
    const bought = await paste(blockWith('operators/first-text-simulated.md', 'simrack subscribe'), {
      DATA_DIR: dataDir,
    });
    t.match(bought.stdout, /has the number \+12065550164 now/, bought.stderr);
    await until(
      'the customer receives a text',
      async () => {
        await paste(curl);
        const receive = blockWith('operators/first-text-simulated.md', 'simrack receive');
        return (await paste(receive, { DATA_DIR: dataDir })).stdout.includes('Hello, rack');
      },
      30_000,
    );

    const [, id = ''] = /(sub_[0-9a-f]+) has the number/.exec(bought.stdout) ?? [];
    const end = await paste(`${program} subscription end ${id} --refund --reason trial`);
    t.match(
      end.stderr,
      /sub_\w+ ends now, and the payer gets 1795\.\d+ USDC \(364 of 365 days of pay_\w+\) to 0x90F79bf6/,
    );
    const chain = connectAnvil(rpcUrl);
    await until('every transaction is final, although no other one comes', async () => {
      const [head, safe] = [await chain.getBlock(), await chain.getBlock({ blockTag: 'safe' })];
      for (let blockNumber = safe.number + 1n; blockNumber <= head.number; blockNumber += 1n)
        if ((await chain.getBlock({ blockNumber })).transactions.length > 0) return false;
      return true;
    });
  },
);
