// A shell into which the blocks of a page are pasted, in a folder of its own. Our programs in it are functions of this process: to start one
// takes more of a processor than most commands.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Test } from 'tap';
import { served } from '../fixtures/network/served.ts';
import type { Ran } from '../fixtures/run-program.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { PROJECT_FOLDER } from '../tidy/sources.ts';

/** A program with its arguments and the variables of the shell. */
type OwnProgram = (args: readonly string[], env: Record<string, string>) => Promise<Ran>;

const { bin: BINS } = JSON.parse(readFileSync(join(PROJECT_FOLDER, 'package.json'), 'utf8')) as {
  bin: Record<string, string>;
};

/** A file beside the page's reader, such as `receipts.json`. */
const OWN_FILE = /^[\w-]+\.(?:csv|json|key|txt|wav|yaml)$/;

const quoted = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;

/** `lasts`: the commands that run until they are stopped, by their first word; each is a process of its own. */
export async function pastedShell(
  t: Test,
  programs: Record<string, OwnProgram>,
  { env = {}, lasts = [] }: { env?: Record<string, string>; lasts?: readonly string[] } = {},
) {
  const folder = temporaryFolder(t);
  const bin = join(folder, '.bin');
  mkdirSync(bin);

  const server = createServer((request, response) => {
    void text(request)
      .then(async (sent) => {
        const [variables = '', words = ''] = sent.split('\0\0');
        const given = Object.fromEntries(variables.split('\0').map((line) => line.split(/=(.*)/s)));
        const args = words
          .replace(/\0$/, '')
          .split('\0')
          .map((word) => (OWN_FILE.test(word) ? join(folder, word) : word));
        const run = programs[String(request.url).slice(1)];
        if (run === undefined) throw new Error(`no program ${request.url}`);
        const { status, stdout, stderr } = await run(args, given);
        response.end(`printf %s ${quoted(stdout)}; printf %s ${quoted(stderr)} >&2; exit ${status}`);
      })
      .catch((error: unknown) => response.end(`echo ${quoted(String(error))} >&2; exit 99`));
  });
  const url = await served(t, server);

  const install = (name: string, script: string): void => {
    writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(bin, name), 0o755);
  };
  for (const name of Object.keys(programs)) {
    const file = join(PROJECT_FOLDER, String(BINS[name]));
    const apart = lasts.map((word) => `${word}) exec ${quoted(process.execPath)} ${quoted(file)} "$@" ;;`);
    install(
      name,
      `${apart.length === 0 ? '' : `case $1 in ${apart.join(' ')} esac\n`}` +
        `eval "$({ env -0; printf '\\0'; printf '%s\\0' "$@"; } | curl -sS --data-binary @- ${url}/${name})"`,
    );
  }
  const named = Object.entries(BINS)
    .filter(([name, file]) => name in programs && existsSync(join(PROJECT_FOLDER, file)))
    .map(([name, file]) => `${file}) shift; exec ${name} "$@" ;;`);
  install('node', `case $1 in ${named.join(' ')} esac\nexec ${quoted(process.execPath)} "$@"`);
  install('npx', '[ "$1" = --no-install ] && shift\nexec "$@"');
  install('sudo', 'exec "$@"');

  const begin = (code: string) =>
    spawn('sh', ['-euc', code], {
      cwd: folder,
      env: { PATH: `${bin}:${process.env['PATH']}`, HOME: folder, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });

  /** Runs a block to its end. */
  async function paste(code: string): Promise<Ran> {
    const shell = begin(code);
    const [stdout, stderr, [status]] = await Promise.all([
      text(shell.stdout),
      text(shell.stderr),
      once(shell, 'close') as Promise<[number | null]>,
    ]);
    return { status, stdout, stderr };
  }

  /** Starts a block whose last command lasts. `said` is its output so far; `mustRun` throws it if the block has ended. */
  function start(code: string): { said: () => string; mustRun: () => undefined; stop: () => Promise<void> } {
    const shell = begin(code);
    let said = '';
    for (const stream of [shell.stdout, shell.stderr])
      stream.on('data', (chunk) => {
        said += String(chunk);
      });
    const closed = once(shell, 'close');
    const isOver = (): boolean => shell.exitCode !== null || shell.signalCode !== null;
    const mustRun = (): undefined => {
      if (isOver()) throw new Error(`it has ended: ${said}`);
    };
    const stop = async (): Promise<void> => {
      if (!isOver()) process.kill(-Number(shell.pid), 'SIGTERM');
      await closed;
    };
    t.teardown(stop);
    return { said: () => said, mustRun, stop };
  }

  return { folder, install, paste, start };
}
