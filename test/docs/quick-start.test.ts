// The quick starts in JavaScript and for curl, as the page shows them.
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { runProgram } from '../fixtures/run-program.ts';
import { temporaryFolder } from '../fixtures/started-stack.ts';
import { PROJECT_FOLDER } from '../tidy/sources.ts';
import { EXAMPLES, FAR_END, isShown, runExample, runQuickStart, startExamples } from './example.ts';

t.test('in JavaScript, and with curl', async (t) => {
  const { environment, textTo, url } = await startExamples(t);

  await t.test('JavaScript buys a number and uses it', async (t) => {
    const folder = temporaryFolder(t);
    const modules = join(folder, 'node_modules');
    mkdirSync(join(modules, '@x402'), { recursive: true });
    for (const name of ['viem', 'ws', '@x402/fetch', '@x402/evm'])
      symlinkSync(join(PROJECT_FOLDER, 'node_modules', name), join(modules, name));
    writeFileSync(join(folder, 'agent.mjs'), readFileSync(join(EXAMPLES, 'quick_start.mjs')));
    const { status, stderr, number, lines } = await runQuickStart([process.execPath, 'agent.mjs'], {
      cwd: folder,
      env: environment(0),
      textTo,
    });
    t.equal(status, 0, stderr);
    t.match(number, /^\+1\d{10}$/);
    t.same(lines, ['sent queued', 'received Your code is 417209', 'call answered', 'call mark', 'ended', '']);
  });

  await t.test('curl uses a number that the command line bought', async (t) => {
    const env = { ...environment(1), HOME: temporaryFolder(t) };
    const bought = await runProgram('simrack', ['--json', 'subscribe', '--show-token'], env);
    t.equal(bought.status, 0, bought.stderr);
    const { number, token } = JSON.parse(bought.stdout) as { number: string; token: string };
    await textTo(number, 'Your code is 123456');
    const { status, stdout, stderr } = await runExample(['sh', join(EXAMPLES, 'quick_start.sh')], {
      env: { ...env, SIMRACK_URL: url, TOKEN: token, NUMBER: number, TO: FAR_END },
    });
    t.equal(status, 0, stderr + stdout);
    for (const said of [/"error":"payment_required"/, /"status":"queued"/, /"next_cursor":/, /"stream_url":/])
      t.match(stdout, said);
  });
});

t.test('the page shows them', async (t) => {
  t.ok(isShown('quick-start.md', 'quick_start.mjs'));
  t.ok(isShown('quick-start.md', 'quick_start.sh'));
});
