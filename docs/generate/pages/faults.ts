// The faults that the simulator plays, from their schemas and doc comments.
import { FAULT_SCHEMAS } from '../../../hardware-sim/faults/fault-schemas.ts';
import { code, sentence, table } from '../markdown.ts';
import type { Page } from '../page.ts';
import { docComments } from '../source/doc-comments.ts';
import { jsonSchemaOf, typeText } from '../source/json-fields.ts';

const SOURCES = ['hardware-sim/faults/fault-schemas.ts', 'hardware-sim/faults/voice-fault-schemas.ts'];

export const FAULTS_PAGE: Page = {
  file: 'faults.md',
  title: 'Faults of the simulator',
  about:
    'Switch a fault on with `POST /modems/{imei}/faults` and a JSON object, for instance `{"kind": "silent", "duration_ms": 60000}`. ' +
    'A fault with `count` strikes that many times. A fault with `duration_ms` lasts that long, and without it until it is cleared. ' +
    'Times are milliseconds.',
  body() {
    const comments = new Map(SOURCES.flatMap((source) => [...docComments(source)]));
    const groups = [...comments.keys()].filter(
      (path) => /^[A-Z]+_FAULTS$/.test(path) && path !== 'VOICE_FAULTS',
    );
    const kinds = Object.keys(FAULT_SCHEMAS) as (keyof typeof FAULT_SCHEMAS)[];
    return groups
      .flatMap((group) => {
        const own = kinds.filter((kind) => comments.has(`${group}/${kind}`));
        const rows = own.map((kind) => [
          code(kind),
          comments.get(`${group}/${kind}`) ?? '',
          fieldsOf(kind, (field) => comments.get(`${group}/${kind}/${field}`)),
        ]);
        return [`## ${title(comments.get(group) ?? group)}`, table(['Kind', 'Effect', 'Fields'], rows)];
      })
      .join('\n\n');
  },
};

/** "Faults of the stores." as a heading. */
const title = (text: string): string => text.replace(/\.$/, '');

function fieldsOf(kind: keyof typeof FAULT_SCHEMAS, comment: (field: string) => string | undefined): string {
  const { properties = {}, required = [] } = jsonSchemaOf(FAULT_SCHEMAS[kind]);
  return Object.entries(properties)
    .filter(([name]) => name !== 'kind')
    .map(([name, field]) => {
      const notes = [typeText(field).replace(/^integer \((.*)\)$/, '$1')];
      if (field.default !== undefined) notes.push(`default ${code(String(field.default))}`);
      else if (!required.includes(name)) notes.push('optional');
      const about = comment(name);
      return `${code(name)} (${notes.join('; ')})${about === undefined ? '' : `: ${sentence(about)}`}`;
    })
    .join('<br>');
}
