// The check of the operator's speech programs: what they say and recognize, and each way in which they fail.
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { CheckedSettings } from '#control-plane/check/checks/check.ts';
import { speechChecks } from '#control-plane/check/checks/speech.ts';
import { reportSchema } from '#control-plane/check/report.ts';
import { skipWithoutSpeech } from '../../fixtures/audio/spoken.ts';
import { runProgram } from '../../fixtures/run-program.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';

const SPEAKS = 'espeak-ng --stdout -v en-us';

interface Commands {
  speechCommand?: string;
  recognitionCommand?: string;
  speechTimeoutMs?: number;
}

/** The findings about the programs. */
async function check({ speechTimeoutMs = 10_000, ...commands }: Commands) {
  const config = { speechCommand: undefined, recognitionCommand: undefined, ...commands, speechTimeoutMs };
  const checks = speechChecks({ config } as unknown as CheckedSettings);
  const outcomes = await Promise.all(checks.map(({ run }) => run(new AbortController().signal)));
  const [speech, recognition] = outcomes;
  return { speech, recognition };
}

/** A recognizer that reads the head of a 16 kHz recording, and all of it, before it answers. */
function recognizer(t: Test, words: string): string {
  const file = join(temporaryFolder(t), 'recognize');
  const rate = 'od -An -tu4 -j24 -N4';
  writeFileSync(
    file,
    `#!/bin/sh\nset -e\ncat > "$0.wav"\n[ "$(${rate} "$0.wav" | tr -d ' ')" = 16000 ]\n` +
      `[ "$(wc -c < "$0.wav")" -gt 10000 ]\nprintf '${words}'\n`,
  );
  chmodSync(file, 0o755);
  return file;
}

t.test('words are spoken and recognized', { skip: skipWithoutSpeech() }, async (t) => {
  const { recognition, speech } = await check({
    speechCommand: SPEAKS,
    recognitionCommand: recognizer(t, 'good morning.\\n'),
  });
  t.match(speech, { verdict: 'ok', seen: /^spoke "Good morning" for [01]\.\d s, made in \d+\.\d s$/ });
  t.match(recognition, { verdict: 'ok', seen: /^recognized "good morning\." in/ });
});

t.test('a recognized text that differs is shown, on one line', { skip: skipWithoutSpeech() }, async (t) => {
  const recognitionCommand = recognizer(t, 'good\\n\\033[31mmourning');
  const { recognition } = await check({ speechCommand: SPEAKS, recognitionCommand });
  t.match(recognition, { verdict: 'warning', advice: /language and the model/ });
  t.match(recognition?.seen, /^recognized "good \[31mmourning" in .*; "Good morning" was spoken$/);
});

t.test('each failure of a program is a problem, with its reason', async (t) => {
  for (const [speechCommand, seen, speechTimeoutMs] of [
    ['false', /false ended with exit code 1/],
    ['/no/such/program', /cannot be run: .*ENOENT/],
    ['sleep 60', /sleep took longer than 3000 ms/, 3_000],
    ['yes', /wrote more than \d+ bytes/],
    ['true', /no speech/],
    ['head -c 32000 /dev/zero', /for 1\.0 s.* it is silence/],
  ] as const) {
    const { recognition, speech } = await check({
      speechCommand,
      recognitionCommand: recognizer(t, 'hm'),
      ...(speechTimeoutMs && { speechTimeoutMs }),
    });
    t.match(speech, { verdict: 'problem', seen, advice: String }, speechCommand);
    t.match(recognition, { verdict: 'ok', seen: /there was no speech to recognize/ }, speechCommand);
  }
  t.match(await check({ recognitionCommand: 'sleep 60', speechTimeoutMs: 300 }), {
    speech: { verdict: 'skipped' },
    recognition: { verdict: 'problem', seen: /took longer than 300 ms/ },
  });
  t.match(await check({}), { speech: { verdict: 'skipped' }, recognition: { verdict: 'skipped' } });
});

t.test('the command: a program that hangs ends the check of speech, and no other', async (t) => {
  const env = { DATA_DIR: temporaryFolder(t), SPEECH_COMMAND: 'sleep 60', SPEECH_TIMEOUT_MS: '500' };
  const ran = await runProgram('control-plane', ['check', '--json'], env);
  const { findings } = reportSchema.parse(JSON.parse(ran.stdout));
  const find = (name: string) => findings.find(({ check }) => check === name);
  t.match(find('speech'), { verdict: 'problem', seen: /took longer than 500 ms/ });
  t.match(find('recognition'), { verdict: 'skipped' });
  t.match(find('data_dir'), { verdict: 'ok' });
});
