// No folder of the product imports what imports it, no file is in a circle of imports, and folders stay small.
import { dirname } from 'node:path';
import t from 'tap';
import { circlesOf, fileGraph, folderGraph } from './import-graph.ts';
import { readSources } from './sources.ts';

const PRODUCT_FOLDERS = ['control-plane/', 'node-daemon/', 'hardware-sim/', 'shared/'];
const FOLDER_FILES_MAX = 25;

const all = readSources();
const sources = all.filter(({ path }) => PRODUCT_FOLDERS.some((folder) => path.startsWith(folder)));
const files = fileGraph(sources);
/** `control-plane/store`: what a reader sees of a program first. */
const ROOM_LEVELS = 2;

t.test('circles are recognized', async (t) => {
  const graph = new Map(
    Object.entries({ a: ['b'], b: ['c', 'd'], c: ['a'], d: ['e'], e: ['d'], f: ['a'], g: [] }).map(
      ([node, imports]) => [node, new Set(imports)],
    ),
  );
  t.same(circlesOf(graph), [
    ['d', 'e'],
    ['a', 'b', 'c'],
  ]);
  t.same(
    folderGraph(new Map([['x/a.ts', new Set(['x/y/b.ts', 'x/c.ts'])]])),
    new Map([['x', new Set(['x/y'])]]),
  );
  const twoRooms = new Map([
    ['x/a/b/1.ts', new Set(['x/c/2.ts'])],
    ['x/c/2.ts', new Set(['x/a/d/3.ts'])],
  ]);
  t.same(circlesOf(folderGraph(twoRooms)), []);
  t.same(circlesOf(folderGraph(twoRooms, ROOM_LEVELS)), [['x/a', 'x/c']]);
});

t.test('no circle of folders of the product, parent and child included, nor of any files', async (t) => {
  for (const graph of [folderGraph(files), folderGraph(files, ROOM_LEVELS)])
    for (const circle of circlesOf(graph))
      t.fail(`circle of folders: ${circle.join(' ')}: move down what both need, or up what composes`);
  for (const circle of circlesOf(fileGraph(all))) t.fail(`circle of files: ${circle.join(' ')}`);
});

t.test(`no folder has more than ${FOLDER_FILES_MAX} files`, async (t) => {
  const counts = new Map<string, number>();
  for (const { path } of all) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
  for (const [folder, count] of counts)
    if (count > FOLDER_FILES_MAX) t.fail(`${folder} has ${count} files: divide it by what they are about`);
});
