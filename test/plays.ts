// Which test files share a process: to load and compile what a file imports takes two seconds of a processor, longer than most files test.
import { readFile } from 'node:fs/promises';

/** One process. */
export interface Play {
  /** Compiled, in the order in which they play. */
  readonly files: readonly string[];
  /** Control planes behind each service that a test starts. */
  readonly instances: number;
  /** Audio that comes late is distorted: files that measure it go before others that want a processor. */
  readonly niceness: '0' | '5' | '10';
}

/** This many take two minutes. */
const FILES_MAX = 16;
/** Processes of several files start in this share of the run: one that starts last would leave the other processor idle. */
const SHARED_UNTIL = 0.85;
/** In the text of a compiled test that uses tap: others, whatever they print, have a process of their own. */
const USES_TAP = /node_modules\/@tapjs\/tap\.js/;
/** In the text of one that measures in real time. */
const MEASURES = /fixtures\/(?:audio\/(?:spoken|tone)|tone-meter|undisturbed)\.js/;
/** In the text of one that serves customers beside a flood: before ordinary tests, after audio. */
const FLOODS = /fixtures\/payments\/flood\.js/;
/** These folders have no fellow in the product: their files start whole programs, and loading is the least of their work. */
const OF_WHOLE_PROGRAMS = /^\.tests\/test\/(?:integration|end-to-end|history)\//;
/** In the text of one that changes, examines or ends its process, or how it loads modules. */
const CHANGES_PROCESS =
  /process\.(?:env\[[^\]]+\] = |on\(|memoryUsage)|fixtures\/(?:fault-points|payments\/payment-lives)\.js|skipFileWithoutNats/;

/** The processes of a run, each part of the product spread over it. `again`: files that also play against that many `instances`. */
export async function plays(
  files: readonly string[],
  again: readonly string[],
  instances: number,
): Promise<Play[]> {
  return spread([...(await grouped(again, instances)), ...(await grouped(files, 1))]);
}

/** Files of one part of the product that lie near each other share a process. */
async function grouped(files: readonly string[], instances: number): Promise<Play[]> {
  const alone: Play[] = [];
  const byPart = new Map<string, string[]>();
  for (const file of files) {
    const text = await readFile(file, 'utf8');
    const niceness = MEASURES.test(text) ? '0' : FLOODS.test(text) ? '5' : '10';
    const isAlone =
      niceness !== '10' || !USES_TAP.test(text) || CHANGES_PROCESS.test(text) || OF_WHOLE_PROGRAMS.test(file);
    if (isAlone) alone.push({ files: [file], instances, niceness });
    else byPart.set(partOf(file), [...(byPart.get(partOf(file)) ?? []), file]);
  }
  const shared = [...byPart.values()].flatMap((ofPart) =>
    evenly(ofPart).map((files): Play => ({ files, instances, niceness: '10' })),
  );
  return [...alone, ...shared];
}

/** `.tests/test/control-plane/...` is of `control-plane`. */
const partOf = (file: string): string => file.split('/')[2] ?? '';

/** Neighbours, in shares of at most `FILES_MAX` that are as long as each other. */
function evenly(files: readonly string[]): string[][] {
  const shares = Math.ceil(files.length / FILES_MAX);
  return Array.from({ length: shares }, (_share, index) =>
    files.slice((index * files.length) / shares, ((index + 1) * files.length) / shares),
  );
}

/** The processes of each part evenly over their share of the run: some mostly work, others mostly wait. */
function spread(all: readonly Play[]): Play[] {
  const isShared = ({ files }: Play): boolean => files.length > 1;
  const kindOf = (play: Play): string => `${partOf(play.files[0] ?? '')} ${isShared(play)}`;
  const byKind = new Map<string, Play[]>();
  for (const play of all) byKind.set(kindOf(play), [...(byKind.get(kindOf(play)) ?? []), play]);
  const placeOf = (play: Play): number => {
    const beside = byKind.get(kindOf(play)) ?? [];
    return ((beside.indexOf(play) + 0.5) / beside.length) * (isShared(play) ? SHARED_UNTIL : 1);
  };
  return [...all].sort((a, b) => placeOf(a) - placeOf(b));
}
