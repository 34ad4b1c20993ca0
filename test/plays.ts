// Which test files share a process: to load what a file imports takes a second of a processor, longer than most files test.
import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';

/** One process. */
export interface Play {
  /** Compiled, in the order in which they play. */
  readonly files: readonly string[];
  /** Control planes behind each service that a test starts. */
  readonly instances: number;
  /** Audio that comes late is distorted: files that measure it go before others that want a processor. */
  readonly niceness: '0' | '10';
}

/** Long enough to spare most of the loading, short enough that the last process of a run leaves no processor idle for long. */
const FILES_MAX = 5;
/** In the text of a compiled test that uses tap: others, whatever they print, have a process of their own. */
const USES_TAP = /node_modules\/@tapjs\/tap\.js/;
/** In the text of one that measures in real time. */
const MEASURES = /fixtures\/(?:tone|tone-meter|undisturbed)\.js/;
/** These folders have no fellow in the product: their files start whole programs, and loading is the least of their work. */
const OF_WHOLE_PROGRAMS = /^\.tests\/test\/(?:integration|end-to-end|history)\//;
/** In the text of one that changes or examines its process, or how it loads modules. */
const CHANGES_PROCESS =
  /process\.(?:env\[[^\]]+\] = |on\(|memoryUsage)|fixtures\/(?:fault-points|payment-lives)\.js/;

/** The processes of a run: the files of a folder share some. Those of each folder are spread over the run. */
export async function plays(files: readonly string[], instances = 1): Promise<Play[]> {
  const alone: Play[] = [];
  const byFolder = new Map<string, string[]>();
  for (const file of files) {
    const text = await readFile(file, 'utf8');
    const niceness = MEASURES.test(text) ? '0' : '10';
    const isAlone =
      niceness === '0' || !USES_TAP.test(text) || CHANGES_PROCESS.test(text) || OF_WHOLE_PROGRAMS.test(file);
    if (isAlone) alone.push({ files: [file], instances, niceness });
    else byFolder.set(dirname(file), [...(byFolder.get(dirname(file)) ?? []), file]);
  }
  const shared = [...byFolder.values()].flatMap((inFolder) =>
    evenly(inFolder).map((files): Play => ({ files, instances, niceness: '10' })),
  );
  return spread([...alone, ...shared]);
}

/** In parts of at most `FILES_MAX` that are as long as each other. */
function evenly(files: readonly string[]): string[][] {
  const parts = Math.ceil(files.length / FILES_MAX);
  return Array.from({ length: parts }, (_part, index) =>
    files.filter((_file, place) => place % parts === index),
  );
}

/** The processes of each program evenly over the run: some mostly work, others mostly wait. */
function spread(all: readonly Play[]): Play[] {
  const folderOf = ({ files }: Play): string => files[0]?.split('/')[2] ?? '';
  const byFolder = new Map<string, Play[]>();
  for (const play of all) byFolder.set(folderOf(play), [...(byFolder.get(folderOf(play)) ?? []), play]);
  const placeOf = (play: Play): number => {
    const beside = byFolder.get(folderOf(play)) ?? [];
    return (beside.indexOf(play) + 0.5) / beside.length;
  };
  return [...all].sort((a, b) => placeOf(a) - placeOf(b));
}
