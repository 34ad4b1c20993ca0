// The imports of the product's sources as a graph of files and of folders, and the circles in it.
import { dirname } from 'node:path';
import type { Source } from './sources.ts';

/** The imports of each node. */
type Graph = ReadonlyMap<string, ReadonlySet<string>>;

/** Imports between files of the project, type imports too. */
export function fileGraph(sources: readonly Source[]): Graph {
  const paths = new Set(sources.map(({ path }) => path));
  return new Map(
    sources.map(({ path, imports }) => [path, new Set(imports.filter((name) => paths.has(name)))]),
  );
}

/**
 * The same between their folders. A folder and one inside it are two folders, unless they are deeper than `levels`: a folder at that
 * level stands for all that is inside it.
 */
export function folderGraph(files: Graph, levels = Number.POSITIVE_INFINITY): Graph {
  const folderOf = (path: string): string => dirname(path).split('/').slice(0, levels).join('/');
  const folders = new Map<string, Set<string>>();
  for (const [path, imports] of files) {
    const folder = folderOf(path);
    const imported = folders.get(folder) ?? new Set();
    folders.set(folder, imported);
    for (const other of imports) if (folderOf(other) !== folder) imported.add(folderOf(other));
  }
  return folders;
}

/** Groups of nodes that reach each other, each sorted (Tarjan's strongly connected components). */
export function circlesOf(graph: Graph): string[][] {
  const indexes = new Map<string, number>();
  const lowest = new Map<string, number>();
  const path: string[] = [];
  const circles: string[][] = [];
  const visit = (node: string): number => {
    const index = indexes.size;
    indexes.set(node, index);
    let low = index;
    path.push(node);
    for (const next of graph.get(node) ?? []) {
      if (!indexes.has(next)) low = Math.min(low, visit(next));
      else if (path.includes(next)) low = Math.min(low, lowest.get(next) ?? indexes.get(next) ?? low);
      lowest.set(node, low);
    }
    lowest.set(node, low);
    if (low === index) {
      const circle = path.splice(path.indexOf(node));
      if (circle.length > 1) circles.push(circle.sort());
    }
    return low;
  };
  for (const node of graph.keys()) if (!indexes.has(node)) visit(node);
  return circles;
}
