// The language of the house: banned words and constructions, each with its replacement.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { type Passage, passagesOfMarkdown, passagesOfSource } from './passages.ts';
import { listFiles, PROJECT_FOLDER } from './sources.ts';

const FOLDERS = ['control-plane/', 'node-daemon/', 'hardware-sim/', 'shared/', 'docs/', 'test/'];
/** It has the words. */
const OWN_PATH = 'test/tidy/words.test.ts';
const PAGES = ['README.md', 'CHANGELOG.md'];

interface Rule {
  pattern: RegExp;
  why: string;
  instead: string;
  /** Names of types, functions and variables too. */
  isOfNames?: boolean;
}

const HOUSE_WORD = 'only we know what it means';
const HEADLESS = 'a sentence needs somebody who does something';

const RULES: readonly Rule[] = [
  {
    pattern: /\b(tell|tells|telling|told)\b/i,
    why: 'programs do not talk',
    instead: 'report, send, notify, return, log, distinguish, set',
    isOfNames: true,
  },
  {
    pattern: /(?:^|[.!;]\s+)(Who|Whoever|What|Whatever|Nobody|Whose|Whom)\b(?![^.]*\?)/,
    why: HEADLESS,
    instead: 'name the actor, or the thing: "Options of the port", "Returns …", "The client that …"',
  },
  {
    pattern: /\b(nobody|somebody|whoever|whomever|anybody)\b/i,
    why: 'it hides the actor',
    instead: 'name the actor: the client, the caller, the test, no program, no modem',
    isOfNames: true,
  },
  {
    pattern: /\b(desks?|with-desk|rack-desk)\b/i,
    why: HOUSE_WORD,
    instead: 'operator API, operator client',
    isOfNames: true,
  },
  { pattern: /\btills?\b/i, why: HOUSE_WORD, instead: 'payment network; until', isOfNames: true },
  {
    pattern: /\b(happenings?|observations?)\b/i,
    why: HOUSE_WORD,
    instead: 'metric event, event',
    isOfNames: true,
  },
  {
    pattern: /\b(whereabouts|acquaintances?|setbacks?|liveliness|come-again|card-?news|card news|tray)\b/i,
    why: HOUSE_WORD,
    instead: 'location; known modem; session failure; liveness; SIM change; SIM cards',
    isOfNames: true,
  },
  {
    pattern: /\b(call-?book|alert-?book|call book|alert book)\b/i,
    why: HOUSE_WORD,
    instead: 'registry, store',
    isOfNames: true,
  },
  {
    pattern: /\b(who has it|whoever holds it|who holds it)\b/i,
    why: HOUSE_WORD,
    instead: 'subscriber, holder',
  },
  { pattern: /\bnobody('s| has it)/i, why: HOUSE_WORD, instead: 'unassigned, not sold' },
  { pattern: /\b(the|a|no) way (back|of)\b/i, why: HOUSE_WORD, instead: 'refund; route; path' },
  {
    pattern: /\blook(s|ed|ing)? (at|whether|for|on)\b/i,
    why: 'programs do not look',
    instead: 'check, poll, scan, read, search',
  },
  { pattern: /\blook-?alikes?\b/i, why: HOUSE_WORD, instead: 'a name that says which' },
  {
    pattern: /(?<!sign(?:ed)?[- ])\b(anew|thereof|hitherto|of late|as it were|is wont)\b/i,
    why: 'nobody says it',
    instead: 'again, from the start, new',
    isOfNames: true,
  },
  {
    pattern: /\b(shall|need not|if need be|ought)\b/i,
    why: 'it is read twice',
    instead: 'must, must not, if necessary, does not have to',
  },
];

interface Finding {
  line: number;
  words: string;
  rule: Rule;
}

function findingsIn(passages: readonly Passage[]): Finding[] {
  return passages.flatMap(({ kind, line, text }) =>
    RULES.filter(({ isOfNames }) => kind !== 'name' || isOfNames === true).flatMap((rule) => {
      const all = new RegExp(rule.pattern, `${rule.pattern.flags}g`);
      return [...text.matchAll(all)].map((match) => {
        const linesBefore = text.slice(0, match.index).split('\n').length - 1;
        return { line: line + linesBefore, words: match[1] ?? match[0], rule };
      });
    }),
  );
}

t.test('comments, strings, names and prose are found, and code is not', async (t) => {
  const source = [
    "import { told } from './told.ts';",
    '// It tells us.',
    '/**',
    ' * First. Nobody knows.',
    ' */',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is a source
    'const tellFull = `a ${1 / 2 /* desk */} told` + "till" + /told/.source;',
    "const isFine = 'What is it?';",
  ].join('\n');
  const found = findingsIn(passagesOfSource(source)).map(({ line, words }) => `${line} ${words}`);
  t.same(found.sort(), ['2 tells', '4 Nobody', '4 Nobody', '6 desk', '6 tell', '6 till', '6 told']);
  const page = ['# A page', '', '```', 'told', '```', '- Use `told`. What is told lasts.'].join('\n');
  t.same(
    findingsIn(passagesOfMarkdown(page)).map(({ line, words }) => `${line} ${words}`),
    ['6 told', '6 What'],
  );
});

t.test('sources and documents keep the language of the house', async (t) => {
  const paths = [
    ...FOLDERS.flatMap((folder) => [...listFiles(`${folder}*.ts`), ...listFiles(`${folder}*.md`)]),
    ...PAGES,
  ];
  t.ok(paths.length > 700);
  for (const path of paths.filter((path) => path !== OWN_PATH)) {
    const text = readFileSync(join(PROJECT_FOLDER, path), 'utf8');
    const passages = path.endsWith('.md') ? passagesOfMarkdown(text) : passagesOfSource(text);
    const name = path.replace(/\.\w+$/, '').replaceAll('/', ' ');
    for (const { line, words, rule } of findingsIn([{ kind: 'name', line: 1, text: name }, ...passages]))
      t.fail(`${path}:${line}: "${words}": ${rule.why}. Write: ${rule.instead}`);
  }
});
