// The quick starts in JavaScript and for curl, and the first bot, as the pages show them.
import { type ChildProcess, spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { runProgram } from '../fixtures/run-program.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { until } from '../fixtures/until.ts';
import { PROJECT_FOLDER } from '../tidy/sources.ts';
import { EXAMPLES, FAR_END, isShown, runExample, runQuickStart, startExamples } from './example.ts';

const hasVoice = spawnSync('espeak-ng', ['--version']).status === 0;

t.test('in JavaScript, with curl, and a bot on the phone', async (t) => {
  const { environment, simulatorUrl, textTo, url } = await startExamples(t);

  await t.test('JavaScript buys a number and uses it', async (t) => {
    const folder = temporaryFolder(t);
    const modules = join(folder, 'node_modules');
    mkdirSync(join(modules, '@x402'), { recursive: true });
    for (const name of ['viem', 'ws', '@x402/fetch', '@x402/evm'])
      symlinkSync(join(PROJECT_FOLDER, 'node_modules', name), join(modules, name));
    writeFileSync(join(folder, 'agent.mjs'), readFileSync(join(EXAMPLES, 'quick_start.mjs')));
    const { PATH = '' } = environment(0);
    const unset = await runExample([process.execPath, 'agent.mjs'], { cwd: folder, env: { PATH } });
    t.match(unset, { status: 1, stderr: /Set SIMRACK_URL, WALLET_KEY and TO\./ });
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
    for (const said of [
      /"error":"payment_required"/,
      /"status":"queued"/,
      /"next_cursor":/,
      /"stream_url":/,
      /"status":"hangup_sent"/,
    ])
      t.match(stdout, said);

    // One plain request waits for a text: with curl, and in Python without packages.
    for (const [command, shown] of [
      [['sh', 'wait.sh'], /^\{"result":.*"body":"Are you there\?"/],
      [['/usr/bin/python3', 'wait.py'], /^\+13105550188 Are you there\?\n$/],
    ] as const) {
      const [program, example] = command;
      const waiting = runExample([program, join(EXAMPLES, example)], {
        env: { ...env, SIMRACK_URL: url, TOKEN: token },
      });
      await textTo(number, 'Are you there?');
      const waited = await waiting;
      t.equal(waited.status, 0, waited.stderr);
      t.match(waited.stdout, shown);
    }
    const folder = temporaryFolder(t);
    for (const [program, example] of [
      ['sh', 'wait.sh'],
      ['/usr/bin/python3', 'wait.py'],
    ] as const) {
      const refused = await runExample([program, join(EXAMPLES, example)], {
        env: { ...env, SIMRACK_URL: url, TOKEN: 'wrong' },
      });
      t.equal(refused.status, 1, example);
      t.match(refused.stderr, /\{"error":"unauthorized","message":/, example);
      const impatient = join(folder, example);
      const code = readFileSync(join(EXAMPLES, example), 'utf8');
      writeFileSync(impatient, code.replace('"wait_seconds": 50', '"wait_seconds": 0'));
      const waited = await runExample([program, impatient], {
        env: { ...env, SIMRACK_URL: url, TOKEN: token },
      });
      t.same(waited, { status: 1, stdout: '', stderr: 'no text within 50 seconds\n' }, example);
    }
  });

  await t.test('a first bot says a sentence, which a telephone records', { skip: !hasVoice }, async (t) => {
    const folder = temporaryFolder(t);
    const env = { ...environment(0), HOME: folder };
    copyFileSync(join(EXAMPLES, 'sentence_bot.mjs'), join(folder, 'bot.mjs'));
    const bought = await runProgram('simrack', ['subscribe', '--print', 'number'], env);
    let bridge: ChildProcess | undefined;
    let said = '';
    const bridging = runProgram(
      'simrack',
      ['bridge', '--command', `node ${join(folder, 'bot.mjs')}`],
      env,
      (child) => {
        bridge = child;
        child.stderr?.on('data', (chunk) => {
          said += String(chunk);
        });
      },
    );
    t.teardown(() => bridge?.kill('SIGKILL'));
    await until('it waits', () => said.includes('waiting for calls'), 30_000);
    const heard = join(folder, 'heard.wav');
    const called = await fetch(`${simulatorUrl}/calls`, {
      method: 'POST',
      body: JSON.stringify({ from: FAR_END, to: bought.stdout.trim(), far_end: { record: heard } }),
    });
    t.equal(called.status, 202);
    await until('the call ends', () => said.includes('the program has ended'), 60_000);
    await until('the recording', () => existsSync(heard), 10_000);
    bridge?.kill('SIGTERM');
    t.match(JSON.parse((await bridging).stdout), { bot_connected: true, words: 'the program has ended' });
    const { stdout: speech } = spawnSync(process.execPath, [join(folder, 'bot.mjs')]);
    t.ok(speech.length > 2 * 32_000, 'more than two seconds of speech');
    const recorded = readFileSync(heard).subarray(44);
    const [saidFrames, heardFrames] = [loudFrames(speech), loudFrames(recorded)];
    t.ok(
      Math.abs(heardFrames - saidFrames) < 0.15 * saidFrames,
      `${heardFrames} of ${saidFrames} loud frames`,
    );
  });
});

/** The number of 20 ms frames with speech in them. */
function loudFrames(audio: Buffer): number {
  let count = 0;
  for (let at = 0; at + 640 <= audio.length; at += 640) {
    let peak = 0;
    for (let sample = at; sample < at + 640; sample += 2)
      peak = Math.max(peak, Math.abs(audio.readInt16LE(sample)));
    if (peak > 1_000) count += 1;
  }
  return count;
}

t.test('the page shows them', async (t) => {
  t.ok(isShown('quick-start.md', 'quick_start.mjs'));
  t.ok(isShown('quick-start.md', 'quick_start.sh'));
  t.ok(isShown('texts.md', 'wait.sh'));
  t.ok(isShown('texts.md', 'wait.py'));
  t.ok(isShown('first-bot.md', 'sentence_bot.mjs'));
});
