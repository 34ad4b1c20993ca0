// The AT commands that the daemon's sources hold, as text: every literal that is a command line.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { PROJECT_FOLDER, parsed } from './doc-comments.ts';

/** Sender of a command. The operator's own commands and the packaging are left out. */
const SENDERS = ['modem', 'voice', 'doctor'] as const;
type Sender = (typeof SENDERS)[number];

/** Folder of the profiles, which hold what texts and what calls send. */
const PROFILES = 'node-daemon/profiles';

export interface SentCommand {
  /** `+CMGS`, `D`, `&F`. */
  name: string;
  /** As it is sent, with "…" for what is filled in. */
  line: string;
  sender: Sender;
}

/** A command line has no blank outside of quotes: prose that begins with a command has. AT&T is a carrier. */
const COMMAND_LINE = /^AT(?!&T$)(?:[+^*$%&][A-Z]|[A-Z])(?:[^\s"]|"[^"]*")*$/;
const NAME = /^AT([+^*$%][A-Z0-9]+|&?[A-Z])/;

export function sentCommands(): readonly SentCommand[] {
  return SENDERS.flatMap((sender) =>
    sourcesOf(sender).flatMap((path) =>
      literalsOf(parsed(path), sender).flatMap((line) => {
        const name = COMMAND_LINE.test(line) ? NAME.exec(line)?.[1] : undefined;
        return name === undefined ? [] : [{ name, line, sender }];
      }),
    ),
  );
}

function sourcesOf(sender: Sender): string[] {
  const folders = [join('node-daemon', sender), ...(sender === 'doctor' ? [] : [PROFILES])];
  return folders.flatMap(sourcesIn);
}

function sourcesIn(folder: string): string[] {
  return readdirSync(join(PROJECT_FOLDER, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .sort()
    .map((name) => join(folder, name));
}

function literalsOf(source: ts.SourceFile, sender: Sender): string[] {
  const found: string[] = [];
  const isProfile = source.fileName.includes(PROFILES);
  const visit = (node: ts.Node): void => {
    if (isShownOnly(node)) return;
    if (isProfile && ts.isVariableStatement(node) && isOfCalls(node) !== (sender === 'voice')) return;
    if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) found.push(node.text);
    if (ts.isTemplateExpression(node))
      found.push(node.head.text + node.templateSpans.map(({ literal }) => `…${literal.text}`).join(''));
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** A make's calls stand in its profile, in a constant of their own. */
function isOfCalls({ declarationList }: ts.VariableStatement): boolean {
  return declarationList.declarations.some(({ name }) => name.getText().endsWith('_VOICE'));
}

/** Texts that replace a secret in the log, and texts that a line is compared with, are never sent. */
function isShownOnly(node: ts.Node): boolean {
  if (ts.isPropertyAssignment(node)) return node.name.getText() === 'shownAs';
  return ts.isCallExpression(node) && /\.startsWith$/.test(node.expression.getText());
}
