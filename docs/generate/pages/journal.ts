// The records of the node's journal, from their types.
import { JOURNAL_FORMAT } from '../../../node-daemon/journal/record.ts';
import { code, sentence, table } from '../markdown.ts';
import type { Page } from '../page.ts';
import { docComments } from '../source/doc-comments.ts';
import { type Member, taggedTypes, typeMembers } from '../source/type-members.ts';

const SOURCE = 'node-daemon/journal/record.ts';

export const JOURNAL_PAGE: Page = {
  file: 'journal.md',
  title: 'Journal of a node',
  about:
    `The file \`journal.log\` in the data folder of a node, format ${JOURNAL_FORMAT}. Each record is one line: the CRC-32 of the JSON as 8 hexadecimal digits, a blank, and the JSON. ` +
    'Facts are described in [Link between node and control plane](./link.md#facts).',
  body() {
    const comments = docComments(SOURCE);
    const records = taggedTypes(SOURCE, 'kind');
    return [
      '## Records',
      ...[...records].flatMap(([kind, members]) => [
        `### ${kind}`,
        commentOf(kind, comments),
        memberTable(members),
      ]),
      '## A storage entry',
      comments.get('StorageEntry') ?? '',
      memberTable(typeMembers(SOURCE, 'StorageEntry')),
      '## A part',
      comments.get('PartRecord') ?? '',
      memberTable(typeMembers(SOURCE, 'PartRecord')),
    ].join('\n\n');
  },
};

/** Records are described where they stand in a union, or as a type of their own. */
function commentOf(kind: string, comments: ReadonlyMap<string, string>): string {
  const own = [`NewRecord/${kind}`, `JournalRecord/${kind}`].map((path) => comments.get(path));
  const named = comments.get(`${kind.slice(0, 1).toUpperCase()}${kind.slice(1)}Record`);
  return own.find((text) => text !== undefined) ?? named ?? '';
}

function memberTable(members: readonly Member[]): string {
  const rows = members
    .filter(({ name }) => name !== 'kind')
    .map(({ about, isOptional, name, type }) => [
      code(name),
      `${code(type)}${isOptional ? ', optional' : ''}`,
      sentence(about ?? ''),
    ]);
  return rows.length === 0 ? 'No fields.' : table(['Field', 'Type', 'Meaning'], rows);
}
