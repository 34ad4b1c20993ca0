// The English in a file, with line numbers: comments, strings and names of TypeScript and JavaScript, prose of Markdown,
// and the lines of every other text.
import ts from 'typescript';

/** A piece of text that a person reads. */
export interface Passage {
  kind: 'comment' | 'string' | 'title' | 'name' | 'markdown' | 'line';
  /** Line of the file, from 1. */
  line: number;
  /** Its own line breaks are those of the file. */
  text: string;
}

/** Names are split into words: `isSimReady` is "is Sim Ready". A name comes once, with its first line. */
export function passagesOfSource(text: string): Passage[] {
  const source = ts.createSourceFile('source.ts', text, ts.ScriptTarget.Latest, true);
  const lineOf = (position: number): number => source.getLineAndCharacterOfPosition(position).line + 1;
  const passages: Passage[] = [];
  const names = new Set<string>();
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) return;
    if (ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node)) {
      const kind = isTitle(node) ? 'title' : 'string';
      passages.push({ kind, line: lineOf(node.getStart(source)), text: node.text });
    } else if ((ts.isIdentifier(node) || ts.isPrivateIdentifier(node)) && !names.has(node.text)) {
      names.add(node.text);
      passages.push({ kind: 'name', line: lineOf(node.getStart(source)), text: wordsOf(node.text) });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return [...commentsOf(text, lineOf), ...passages];
}

/** Whether a string names a test: the first argument of `t.test`. */
function isTitle({ parent, pos }: ts.Node): boolean {
  const node = ts.isTemplateExpression(parent) ? parent : undefined;
  const call = node === undefined ? parent : node.parent;
  if (!ts.isCallExpression(call) || !ts.isPropertyAccessExpression(call.expression)) return false;
  return call.expression.name.text === 'test' && call.arguments[0]?.pos === pos;
}

/** Comments; those that begin with `//` on consecutive lines are one. */
function commentsOf(text: string, lineOf: (position: number) => number): Passage[] {
  const scanner = ts.createScanner(ts.ScriptTarget.Latest, false, ts.LanguageVariant.Standard, text);
  const passages: Passage[] = [];
  /** Opened `${` and `{`, innermost last. */
  const braces: ('template' | 'block')[] = [];
  let previous: ts.SyntaxKind = ts.SyntaxKind.Unknown;
  for (let kind = scanner.scan(); kind !== ts.SyntaxKind.EndOfFileToken; kind = scanner.scan()) {
    if (kind === ts.SyntaxKind.SlashToken || kind === ts.SyntaxKind.SlashEqualsToken) {
      if (!endsValue(previous)) kind = scanner.reScanSlashToken();
    } else if (kind === ts.SyntaxKind.CloseBraceToken && braces.pop() === 'template') {
      kind = scanner.reScanTemplateToken(false);
      if (kind === ts.SyntaxKind.TemplateMiddle) braces.push('template');
    } else if (kind === ts.SyntaxKind.TemplateHead) braces.push('template');
    else if (kind === ts.SyntaxKind.OpenBraceToken) braces.push('block');
    const isLine = kind === ts.SyntaxKind.SingleLineCommentTrivia;
    if (isLine || kind === ts.SyntaxKind.MultiLineCommentTrivia) {
      const line = lineOf(scanner.getTokenStart());
      const comment = withoutMarks(scanner.getTokenText());
      const last = passages.at(-1);
      const isNext = isLine && last !== undefined && line === last.line + last.text.split('\n').length;
      if (isNext) last.text += `\n${comment}`;
      else passages.push({ kind: 'comment', line, text: comment });
    } else if (kind > ts.SyntaxKind.LastTriviaToken) previous = kind;
  }
  return passages;
}

/** Whether a slash behind this token divides, and does not begin a regular expression. */
function endsValue(kind: ts.SyntaxKind): boolean {
  return [
    ts.SyntaxKind.Identifier,
    ts.SyntaxKind.PrivateIdentifier,
    ts.SyntaxKind.NumericLiteral,
    ts.SyntaxKind.BigIntLiteral,
    ts.SyntaxKind.StringLiteral,
    ts.SyntaxKind.NoSubstitutionTemplateLiteral,
    ts.SyntaxKind.TemplateTail,
    ts.SyntaxKind.RegularExpressionLiteral,
    ts.SyntaxKind.CloseParenToken,
    ts.SyntaxKind.CloseBracketToken,
    ts.SyntaxKind.CloseBraceToken,
    ts.SyntaxKind.ThisKeyword,
  ].includes(kind);
}

function withoutMarks(comment: string): string {
  return comment.replace(/^\/\*\*?|\*\/$/g, '').replace(/^[ \t]*(\/\/|\*)[ \t]?/gm, '');
}

function wordsOf(name: string): string {
  return name.replace(/[#_]/g, ' ').replace(/([a-z0-9])([A-Z])/g, '$1 $2');
}

/** Prose; code is left out. Each paragraph, heading, list item and table row is a passage. */
export function passagesOfMarkdown(text: string): Passage[] {
  const blank = (code: string): string => code.replace(/[^\n]/g, ' ');
  const prose = text
    .replace(/^---\n[\s\S]*?\n---\n/, blank)
    .replace(/^( *)```[\s\S]*?^\1```/gm, blank)
    .replace(/`[^`\n]+`/g, (code) => '`'.padEnd(code.length, '`'));
  const passages: Passage[] = [];
  for (const [index, row] of prose.split('\n').entries()) {
    const shown = row.replace(/^\s*(#+|[-*]|\d+\.|\|)\s+/, '').trim();
    if (shown !== '') passages.push({ kind: 'markdown', line: index + 1, text: shown });
  }
  return passages;
}

/** Lines without their comment marks: `#`, `//`, `*`, `;` and `.\"`. Names with `_` are split into words. */
export function passagesOfLines(text: string): Passage[] {
  const lines = text.split('\n').map((line) => line.replace(/^\s*(#+|\/\/|\/?\*+|;|[.']\\"|"{3})?\s*/, ''));
  return lines.flatMap((line, index) =>
    line === '' ? [] : [{ kind: 'line', line: index + 1, text: line.replaceAll('_', ' ') }],
  );
}
