// The language of the house: banned words and constructions, each with its replacement.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { type Passage, passagesOfLines, passagesOfMarkdown, passagesOfSource } from './passages.ts';
import { listFiles, PROJECT_FOLDER } from './sources.ts';

/** Every file is read but these. */
const EXCEPTIONS: ReadonlyArray<[pattern: RegExp, why: string]> = [
  [/^test\/tidy\/words\.test\.ts$/, 'it has the words'],
  [/(^|\/)package-lock\.json$/, 'npm writes it'],
  [/^test\/fixtures\/agents\/one-time-codes\/.+\.tsv$/, 'texts as other services send them'],
  [/^test\/node-daemon\/modem\/transcripts\/.+\.txt$/, 'answers as modems give them'],
];

interface Rule {
  pattern: RegExp;
  why: string;
  instead: string;
  /** Names of types, functions and variables too. */
  isOfNames?: boolean;
  /** These passages alone. */
  kinds?: ReadonlyArray<Passage['kind']>;
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
    pattern: /(?<=^\s*|[.!;]\s+)(Who|Whoever|What|Whatever|Nobody|Whose|Whom)\b(?![^.]*\?)/,
    why: HEADLESS,
    instead: 'name the actor, or the thing: "Options of the port", "Returns …", "The client that …"',
  },
  {
    // Titles and messages of tests, which begin in lower case. "what to do" is a heading.
    pattern: /^(who|whoever|what|whatever|nobody|whose|whom) (?!to do$)(?![^.]*\?$)/,
    why: HEADLESS,
    instead: 'name the actor, or the thing: "a client that guesses", "appended records"',
    kinds: ['string', 'title'],
  },
  {
    pattern: /(?<=^\s*)(Of) /,
    why: 'the reader has to find the noun',
    instead: 'begin with the thing: "Counts over the last hour.", "Budget for the frames of a node."',
    kinds: ['comment'],
  },
  {
    pattern: /^(it|they|nor|so|and|also|which|that which) /,
    why: 'a title is read alone',
    instead: 'name the thing that the test is about',
    kinds: ['title'],
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
    pattern: /\b(stocks?|stocked|stocking|standings?|come-?backs?)\b/i,
    why: HOUSE_WORD,
    instead: 'pool, inventory; status; reconnect',
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

function rulesFor(kind: Passage['kind']): Rule[] {
  return RULES.filter(({ isOfNames, kinds }) =>
    kinds === undefined ? kind !== 'name' || isOfNames === true : kinds.includes(kind),
  );
}

function findingsIn(passages: readonly Passage[]): Finding[] {
  return passages.flatMap(({ kind, line, text }) =>
    rulesFor(kind).flatMap((rule) => {
      if (!rule.pattern.test(text)) return [];
      const all = new RegExp(rule.pattern, `${rule.pattern.flags}g`);
      return [...text.matchAll(all)].map((match) => {
        const linesBefore = text.slice(0, match.index).split('\n').length - 1;
        return { line: line + linesBefore, words: match[1] ?? match[0], rule };
      });
    }),
  );
}

t.test('the rules find comments, strings, names and prose, and skip code', async (t) => {
  const source = [
    "import { told } from './told.ts';",
    '// It tells us.',
    '/**',
    ' * First. Nobody knows.',
    ' */',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is a source
    'const tellFull = `a ${1 / 2 /* desk */} told` + "till" + /told/.source;',
    "const isFine = 'What is it?';",
    '/** Of the last hour. */',
    '/**',
    ' * Who asks waits. Of these, some are fine.',
    ' */',
  ].join('\n');
  const found = findingsIn(passagesOfSource(source)).map(({ line, words }) => `${line} ${words}`);
  t.same(found.sort(), [
    '10 Who',
    '2 tells',
    '4 Nobody',
    '4 Nobody',
    '6 desk',
    '6 tell',
    '6 till',
    '6 told',
    '8 Of',
  ]);
  const tests = [
    "t.test('who asks waits', f); t.ok(x, 'what came is there'); t.test('it waits', f); f('it waits');",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is a source
    "t.test(`nor ${1}`, f); s = 'what is it?' + 'what to do';",
  ].join('\n');
  t.same(
    findingsIn(passagesOfSource(tests)).map(({ line, words }) => `${line} ${words}`),
    ['1 who', '1 what', '1 it', '2 nor'],
  );
  const page = ['# A page', '', '```', 'told', '```', '- Use `told`. What is told lasts.'].join('\n');
  t.same(
    findingsIn(passagesOfMarkdown(page)).map(({ line, words }) => `${line} ${words}`),
    ['6 told', '6 What'],
  );
  const script = ['# What lasts.', 'told_once = 1  # nobody', '// Is it? What is it?'].join('\n');
  t.same(
    findingsIn(passagesOfLines(script)).map(({ line, words }) => `${line} ${words}`),
    ['1 What', '2 told', '2 nobody'],
  );
});

function passagesOf(path: string, text: string): Passage[] {
  if (path.endsWith('.md')) return passagesOfMarkdown(text);
  return /\.[cm]?[jt]s$/.test(path) ? passagesOfSource(text) : passagesOfLines(text);
}

t.test('every file keeps the language of the house', async (t) => {
  const listed = listFiles('*');
  for (const [pattern] of EXCEPTIONS)
    t.ok(
      listed.some((path) => pattern.test(path)),
      String(pattern),
    );
  const paths = listed.filter((path) => !EXCEPTIONS.some(([pattern]) => pattern.test(path)));
  t.ok(paths.length > 1000);
  for (const path of paths) {
    const text = readFileSync(join(PROJECT_FOLDER, path), 'utf8');
    const passages = passagesOf(path, text);
    const name = path.replace(/\.\w+$/, '').replaceAll('/', ' ');
    for (const { line, words, rule } of findingsIn([{ kind: 'name', line: 1, text: name }, ...passages]))
      t.fail(`${path}:${line}: "${words}": ${rule.why}. Write: ${rule.instead}`);
  }
});
