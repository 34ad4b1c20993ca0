// The page about troubles: a reader finds each state by the words that commands and pages show.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { type ServiceState, SLOT_STATUS } from '#shared/operator/slot-health.ts';
import { stateWithReason } from '#shared/operator/slot-reasons.ts';
import { PROJECT_FOLDER } from '../tidy/sources.ts';

const isState = (word: string): word is ServiceState => Object.hasOwn(SLOT_STATUS, word);

t.test('each row with the codes of a slot begins with the words that lists show', async (t) => {
  const page = readFileSync(join(PROJECT_FOLDER, 'docs/operators/trouble.md'), 'utf8');
  const seen = new Set<string>();
  for (const [, words = '', codes = ''] of page.matchAll(/^\| ([^`|]+) \((`[^|]*`[^|]*)\) \|/gm)) {
    const [state = '', ...reasons] = [...codes.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);
    if (!isState(state)) continue;
    seen.add(state);
    const { words: stateWords } = SLOT_STATUS[state];
    const shown = (reasons.length === 0 ? [null] : reasons).map((reason) =>
      stateWithReason(stateWords, state, reason?.replace('<n>', '17') ?? null)
        .replace(/^.*: /, '')
        .replace('cause 17', 'cause n'),
    );
    const written = words.replace(`${stateWords}: `, '').split('; ');
    t.same(written, [...new Set(shown)], codes);
  }
  for (const state of Object.keys(SLOT_STATUS)) if (state !== 'starting') t.ok(seen.has(state), state);
});
