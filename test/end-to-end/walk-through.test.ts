// The output of `npm start`, pasted into a shell as it stands: from nothing to texts and a call.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { startStack } from '../fixtures/stacks/started-stack.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { until } from '../fixtures/until.ts';

t.test('each command of the walk-through does what it says', async (t) => {
  const dataDir = temporaryFolder(t);
  const stack = await startStack(t, { dataDir, env: { MODEMS: '2' } });
  const printed = await until(
    'the walk-through',
    () => /Paste this.*Ctrl-C stops/s.exec(stack.output())?.[0],
  );
  const commands = printed.split('\n').filter((line) => line.startsWith('  '));
  t.ok(commands.length > 10, `${commands.length} lines`);
  const home = temporaryFolder(t);
  const shell = spawn('sh', ['-euc', commands.join('\n')], {
    // Not in the project's folder: nothing may depend on it.
    cwd: home,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: String(process.env['PATH']), HOME: home },
  });
  const [answers, progress, [status]] = await Promise.all([
    text(shell.stdout),
    text(shell.stderr),
    once(shell, 'close'),
  ]);
  t.equal(status, 0, progress);
  for (const said of [
    /"outcome": "bought"/,
    /"status": "queued"/,
    /"body": "Hello from the first wallet 👋"/,
    /"body":"Your code is 123456"/,
    /"answered": true/,
    /"calls":\[\{/,
  ])
    t.match(answers, said);
  t.ok(statSync(join(dataDir, 'heard.wav')).size > 32_000, 'a second of audio at least');
  t.notMatch(answers + progress, /undefined|NaN/);
});
