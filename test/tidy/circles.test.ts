// No folder imports what imports it, no file is in a circle of imports, and folders stay small. Known exceptions only shrink.
import { dirname } from 'node:path';
import t from 'tap';
import { circlesOf, fileGraph, folderGraph, mutualPairs } from './import-graph.ts';
import { readSources } from './sources.ts';

const PRODUCT_FOLDERS = ['control-plane/', 'node-daemon/', 'hardware-sim/', 'shared/'];
const FOLDER_FILES_MAX = 25;

/** Folders that import each other. Remove a pair here when it is gone; never add one. */
const KNOWN_PAIRS: readonly string[] = [
  'control-plane <-> control-plane/alerts',
  'control-plane <-> control-plane/console',
  'control-plane <-> control-plane/operator',
  'control-plane/alerts <-> control-plane/mail',
  'control-plane/alerts <-> control-plane/metrics',
  'control-plane/alerts <-> control-plane/store',
  'control-plane/backup <-> control-plane/store',
  'control-plane/bus <-> control-plane/store',
  'control-plane/client <-> control-plane/client/commands',
  'control-plane/client <-> control-plane/client/payments',
  'control-plane/console <-> control-plane/console/live',
  'control-plane/console <-> control-plane/console/pages',
  'control-plane/metrics <-> control-plane/payments',
  'node-daemon <-> node-daemon/at',
  'node-daemon <-> node-daemon/config',
  'node-daemon <-> node-daemon/doctor',
  'node-daemon <-> node-daemon/link',
  'node-daemon <-> node-daemon/modem',
  'node-daemon <-> node-daemon/operator',
  'node-daemon <-> node-daemon/status-page',
  'node-daemon <-> node-daemon/usb',
  'node-daemon/audio <-> node-daemon/voice',
  'node-daemon/config <-> node-daemon/modem',
  'node-daemon/config <-> node-daemon/operator',
  'node-daemon/doctor <-> node-daemon/doctor/checks',
  'node-daemon/doctor <-> node-daemon/doctor/modem',
  'node-daemon/doctor/checks <-> node-daemon/doctor/checks/host',
  'node-daemon/doctor/checks <-> node-daemon/doctor/checks/slot',
  'node-daemon/doctor/checks/slot <-> node-daemon/doctor/modem',
  'node-daemon/doctor/makes <-> node-daemon/doctor/modem',
  'node-daemon/modem <-> node-daemon/voice',
  'node-daemon/voice <-> node-daemon/voice/makes',
];

/** Files in circles of imports. Remove a circle here when it is gone; never add one. */
const KNOWN_FILE_CIRCLES: readonly (readonly string[])[] = [
  ['control-plane/store/database.ts', 'control-plane/store/table-catalog.ts'],
  ['control-plane/operator/desk.ts', 'control-plane/operator/payment-desk.ts'],
  ['control-plane/console/pages/overview.ts', 'control-plane/console/pages/tiles.ts'],
  [
    'control-plane/discovery/files.ts',
    'control-plane/discovery/llms-text.ts',
    'control-plane/discovery/open-api-document.ts',
    'control-plane/discovery/skill.ts',
  ],
  ['node-daemon/voice/call-book.ts', 'node-daemon/voice/telephone.ts'],
];

/** Projects in which a larger circle of folders is left, because the known pairs are part of it. */
const PROJECTS_WITH_FOLDER_CIRCLES: readonly string[] = ['control-plane', 'node-daemon'];

/** Folders with too many files. Remove a folder here when it has been divided; never add one. */
const KNOWN_LARGE_FOLDERS: readonly string[] = [
  'control-plane/http',
  'control-plane/operator',
  'control-plane/payments',
  'control-plane/store',
  'node-daemon/modem',
];

const sources = readSources().filter(({ path }) => PRODUCT_FOLDERS.some((folder) => path.startsWith(folder)));
const files = fileGraph(sources);
const folders = folderGraph(files);

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
  t.same(mutualPairs(graph), ['d <-> e']);
  t.same(
    folderGraph(new Map([['x/a.ts', new Set(['x/y/b.ts', 'x/c.ts'])]])),
    new Map([['x', new Set(['x/y'])]]),
  );
});

t.test('no two folders import each other, parent and child included', async (t) => {
  const found = mutualPairs(folders);
  for (const pair of without(found, KNOWN_PAIRS))
    t.fail(`${pair}: move down what both need, or up what composes`);
  for (const pair of without(KNOWN_PAIRS, found)) t.fail(`${pair} is gone: take it off KNOWN_PAIRS`);
});

t.test('no circle of folders', async (t) => {
  const circles = circlesOf(folders).map((circle) => circle.join(' '));
  const isKnown = (circle: string, project: string): boolean =>
    circle.split(' ').every((folder) => `${folder}/`.startsWith(`${project}/`));
  for (const circle of circles) {
    const project = PROJECTS_WITH_FOLDER_CIRCLES.find((name) => isKnown(circle, name));
    if (project === undefined) t.fail(`circle of folders: ${circle}`);
  }
  for (const project of PROJECTS_WITH_FOLDER_CIRCLES) {
    if (!circles.some((circle) => isKnown(circle, project)))
      t.fail(`${project} has no circle left: take it off PROJECTS_WITH_FOLDER_CIRCLES`);
  }
});

t.test('no circle of files', async (t) => {
  const found = circlesOf(files).map((circle) => circle.join(' '));
  const known = KNOWN_FILE_CIRCLES.map((circle) => [...circle].sort().join(' '));
  for (const circle of without(found, known)) t.fail(`circle of files: ${circle}`);
  for (const circle of without(known, found)) t.fail(`${circle} is gone or smaller: mend KNOWN_FILE_CIRCLES`);
});

t.test(`no folder has more than ${FOLDER_FILES_MAX} files`, async (t) => {
  const counts = new Map<string, number>();
  for (const { path } of sources) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
  const large = [...counts].filter(([, count]) => count > FOLDER_FILES_MAX).map(([folder]) => folder);
  for (const folder of without(large, KNOWN_LARGE_FOLDERS))
    t.fail(`${folder} has ${counts.get(folder)} files: divide it by what they are about`);
  for (const folder of without(KNOWN_LARGE_FOLDERS, large))
    t.fail(`${folder} is small enough: take it off KNOWN_LARGE_FOLDERS`);
});

function without(all: readonly string[], some: readonly string[]): string[] {
  return all.filter((each) => !some.includes(each));
}
