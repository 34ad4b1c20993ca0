// The quick start in Python, with Debian's packages: it pays, texts, receives and calls.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import t from 'tap';
import { EXAMPLES, isShown, runQuickStart, startExamples } from './example.ts';

const PYTHON = '/usr/bin/python3';
const hasPackages = spawnSync(PYTHON, ['-c', 'import ecdsa, Cryptodome.Hash.keccak']).status === 0;
const skip = hasPackages ? false : 'python3-ecdsa and python3-pycryptodome are not installed';

t.test('it buys a number and uses it', { skip }, async (t) => {
  const { environment, textTo } = await startExamples(t);
  const { status, stderr, number, lines } = await runQuickStart(
    [PYTHON, '-u', join(EXAMPLES, 'quick_start.py')],
    { env: environment(0), textTo },
  );
  t.equal(status, 0, stderr);
  t.match(number, /^\+1\d{10}$/);
  t.same(lines, [
    'sent 200 queued',
    'received Your code is 417209',
    'call 200 outbound',
    'hangup 200 hangup_sent',
    '',
  ]);
});

t.test('the page shows it', async (t) => {
  t.ok(isShown('quick-start.md', 'quick_start.py'));
});
