// The doc comments of a source file, by the path of what they stand before: "factSchema/sms_received/from".
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

export const PROJECT_FOLDER = join(dirname(fileURLToPath(import.meta.url)), '../../..');

/** Which of the alternatives of a union an object is. */
const TAGS = ['type', 'kind', 'status', 'event'];

/** A source file, parsed. `path` is relative to the project's folder. */
export function parsed(path: string): ts.SourceFile {
  const text = readFileSync(join(PROJECT_FOLDER, path), 'utf8');
  return ts.createSourceFile(path, text, ts.ScriptTarget.ES2023, true);
}

/** All doc comments of a file. */
export function docComments(path: string): ReadonlyMap<string, string> {
  const source = parsed(path);
  const found = new Map<string, string>();
  const note = (at: string, node: ts.Node): void => {
    const text = commentBefore(source.text, node.getStart(source));
    if (text !== undefined && !found.has(at)) found.set(at, text);
  };
  const visit = (node: ts.Node, scope: string): void => {
    const name = nameOf(node);
    let at = name === undefined ? scope : `${scope}/${name}`;
    if (name !== undefined) note(at.slice(1), node);
    const tag = tagOf(node);
    if (tag !== undefined && !at.endsWith(`/${tag}`)) {
      at = `${at}/${tag}`;
      note(at.slice(1), callAround(node));
    }
    ts.forEachChild(node, (child) => visit(child, at));
  };
  visit(source, '');
  return found;
}

/** Names of variables, types and properties make the path. */
function nameOf(node: ts.Node): string | undefined {
  const isNamed =
    ts.isVariableStatement(node) ||
    ts.isPropertyAssignment(node) ||
    ts.isPropertySignature(node) ||
    ts.isInterfaceDeclaration(node) ||
    ts.isTypeAliasDeclaration(node);
  if (!isNamed)
    return ts.isStringLiteral(node) && ts.isArrayLiteralExpression(node.parent) ? node.text : undefined;
  if (ts.isVariableStatement(node)) return node.declarationList.declarations[0]?.name.getText();
  return ts.isStringLiteral(node.name) ? node.name.text : node.name.getText();
}

/** The value of the tag that an object has: of a schema, `kind: z.literal('part')`; of a type, `kind: 'part'`. */
function tagOf(node: ts.Node): string | undefined {
  const members = ts.isObjectLiteralExpression(node)
    ? node.properties
    : ts.isTypeLiteralNode(node) || ts.isInterfaceDeclaration(node)
      ? node.members
      : [];
  for (const member of members) {
    const name = member.name?.getText();
    if (name === undefined || !TAGS.includes(name)) continue;
    const value = /^(?:readonly )?\w+: (?:z\.literal\()?'(\w+)'/.exec(member.getText())?.[1];
    if (value !== undefined) return value;
  }
  return undefined;
}

/** `z.object({…})` of its object, before which the comment stands. */
function callAround(node: ts.Node): ts.Node {
  return ts.isObjectLiteralExpression(node) && ts.isCallExpression(node.parent) ? node.parent : node;
}

/** The text of the doc comment that ends before `start`. */
export function commentBefore(text: string, start: number): string | undefined {
  const before = text.slice(0, start).replace(/[\s|]+$/, '');
  return before.endsWith('*/') ? plainText(before.slice(before.lastIndexOf('/**'))) : undefined;
}

const plainText = (comment: string): string =>
  comment
    .replace(/^\/\*\*\s*(?:\* )?|\s*\*\/$/g, '')
    .replace(/\s*\n\s*\*\s?/g, ' ')
    .trim();
