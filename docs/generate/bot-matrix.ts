// docs/agents/bot-matrix.md: which bot does what, from the rows that the tests check.
import { ABILITIES, ABILITY_TITLES, BOT_ROWS, type BotRow } from '../../test/fixtures/agents/bots/rows.ts';
import { block, code, table } from './markdown.ts';
import type { Page } from './page.ts';

const ROWS: readonly BotRow[] = BOT_ROWS;

const anchorOf = ({ title }: BotRow): string =>
  title
    .toLowerCase()
    .replace(/[^\w -]/g, '')
    .replaceAll(' ', '-');

const linkOf = (row: BotRow): string => `[${row.title.replaceAll('`', '')}](#${anchorOf(row)})`;

function sectionOf(row: BotRow): string {
  const { title, line, files = {}, lacks = {}, notes, playedWith, source } = row;
  const parts = [
    `## ${title}`,
    block('sh', line),
    ...Object.entries(files).flatMap(([name, text]) => [`${code(name)}:`, block('text', text)]),
    ...(notes === undefined ? [] : [notes]),
    ...(Object.keys(lacks).length === 0
      ? []
      : [
          ABILITIES.filter((ability) => ability in lacks)
            .map((ability) => `- **${ABILITY_TITLES[ability]}**: no. ${lacks[ability]}`)
            .join('\n'),
        ]),
    `Tested with ${playedWith}. [Source](${source}).`,
  ];
  return parts.join('\n\n');
}

export const BOT_MATRIX_PAGE: Page = {
  file: 'bot-matrix.md',
  title: 'Which bot can do what',
  about:
    'Each row is a kind of voice bot that a test connects with a call, by the line that is shown here. A test checks each “yes”. A “no” is a limit of the bot’s own protocol, with its reason below.',
  body() {
    const cells = ({ lacks = {} }: BotRow): string[] =>
      ABILITIES.map((ability) => (ability in lacks ? 'no' : 'yes'));
    return [
      table(
        ['Bot', ...ABILITIES.map((ability) => ABILITY_TITLES[ability])],
        ROWS.map((row) => [linkOf(row), ...cells(row)]),
      ),
      [
        '- **Hears**, **speaks**: audio of the far end reaches the bot, and the far end hears the bot.',
        '- **Stops when interrupted**: the bot discards what it has said and the far end has not heard.',
        '- **Gets keys**, **presses keys**: keys of the telephone, in either direction. Tones that a bot sends as audio are passed on, but a mobile network may distort them.',
        '- **Hangs up**: the far end hears the bot’s last words, then the call ends. **Notices hang-up**: the bot’s connection ends when the far end hangs up.',
      ].join('\n'),
      'No test reaches the cloud of a vendor: “its messages” are those of its sources or its documentation. `simrack` is the [command line](client.md#command-line).',
      'A bot that speaks SIP only (OpenAI’s SIP connector, Retell, `baresip`) cannot be connected: the service has no SIP. ' +
        'How a call goes with any of them is in [Connect a voice bot](bots.md).',
      ...ROWS.map(sectionOf),
    ].join('\n\n');
  },
};
