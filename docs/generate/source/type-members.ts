// The members of types that only the compiler knows: of an interface, and of each alternative with a tag.
import ts from 'typescript';
import { commentBefore, parsed } from './doc-comments.ts';

export interface Member {
  name: string;
  type: string;
  isOptional: boolean;
  about: string | undefined;
}

/** Members of all object types of a file that have `tag` as a literal, by its value, in their order. Those of one value are joined. */
export function taggedTypes(path: string, tag: string): ReadonlyMap<string, readonly Member[]> {
  const source = parsed(path);
  const found = new Map<string, Member[]>();
  const visit = (node: ts.Node): void => {
    if (ts.isTypeLiteralNode(node) || ts.isInterfaceDeclaration(node)) {
      const members = membersOf(node, source);
      const value = /^'(\w+)'$/.exec(members.find(({ name }) => name === tag)?.type ?? '')?.[1];
      if (value !== undefined) found.set(value, [...(found.get(value) ?? []), ...members]);
      else if (!ts.isInterfaceDeclaration(node)) addToExtracted(node, members, found);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** `Extract<NewRecord, { kind: 'fact' }> & { … }`: what is added belongs to that record. */
function addToExtracted(node: ts.Node, members: readonly Member[], found: Map<string, Member[]>): void {
  const value = ts.isIntersectionTypeNode(node.parent)
    ? /\{ kind: '(\w+)' \}/.exec(node.parent.getText())?.[1]
    : undefined;
  if (value !== undefined) found.set(value, [...(found.get(value) ?? []), ...members]);
}

export function typeMembers(path: string, name: string): readonly Member[] {
  const source = parsed(path);
  for (const statement of source.statements)
    if (ts.isInterfaceDeclaration(statement) && statement.name.text === name)
      return membersOf(statement, source);
  throw new Error(`${path} has no interface ${name}`);
}

const membersOf = (node: ts.TypeLiteralNode | ts.InterfaceDeclaration, source: ts.SourceFile): Member[] =>
  node.members.filter(ts.isPropertySignature).map((member) => ({
    name: member.name.getText(source),
    type: member.type?.getText(source).replace(/\s+/g, ' ') ?? 'unknown',
    isOptional: member.questionToken !== undefined,
    about: commentBefore(source.text, member.getStart(source)),
  }));
