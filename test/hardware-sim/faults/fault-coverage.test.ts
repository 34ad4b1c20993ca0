// Every fault is played in some test of this folder.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { FAULT_SCHEMAS } from '#hardware-sim/faults/fault-schemas.ts';

t.test('each kind of fault, and each choice that a fault offers, is named in a test', async (t) => {
  const folder = join(import.meta.dirname, '..');
  const text = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => readFileSync(join(folder, name), 'utf8'))
    .join('\n');
  for (const [kind, { shape }] of Object.entries(FAULT_SCHEMAS)) {
    t.ok(text.includes(`kind: '${kind}'`), kind);
    for (const field of Object.keys(shape)) {
      if (field === 'kind' || field === 'count') continue;
      t.ok(new RegExp(`\\b${field}\\b`).test(text), `${kind}.${field}`);
    }
  }
});
