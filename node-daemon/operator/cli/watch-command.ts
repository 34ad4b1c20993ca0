// `node-daemon watch`: the slots, live: a table on a terminal, else a line for each change.
import { isAway } from '#shared/operator/operator-client.ts';
import { programCommand } from '#shared/process/commands.ts';
import { hasColors, onOneLine } from '#shared/process/terminal.ts';
import type { DaemonSettings } from '../../config/options.ts';
import type { NodeOperator } from '../node-operator.ts';
import type { WatchedHost } from '../slot-activity.ts';
import { watchLine, watchScreen } from './watch-screen.ts';
import { print, printAside, WHERE, withOperator } from './with-operator.ts';

/** Where a terminal does not say. */
const USUAL_SIZE = { columns: 80, rows: 24 };

/**
 * xterm's, which all terminals of today know: the other screen, the cursor, the end of a line that is no beginning of the
 * next, from the top, to the end.
 */
const ENTER = '\u001b[?1049h\u001b[?25l\u001b[?7l';
const LEAVE = '\u001b[?7h\u001b[?25h\u001b[?1049l';
const HOME = '\u001b[H';
const CLEAR_LINE = '\u001b[K';
const NEXT_LINE = '\u001b[E';
const CLEAR_BELOW = '\u001b[J';

/** The display of the watched host. */
interface Display {
  show(host: WatchedHost | undefined, note: string): void;
  close(): void;
}

export const WATCH_COMMAND = programCommand({
  usage: 'watch',
  about: 'Show the slots as they change, until Ctrl-C.',
  options: WHERE,
  run: (where) =>
    withOperator('watch', where, async (operator, settings) => {
      const ended = new AbortController();
      const end = (): void => ended.abort();
      for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, end);
      process.stdout.on('error', end);
      const display = process.stdout.isTTY ? tableOnTerminal() : linesOfChanges();
      try {
        await watch(operator, settings, display, ended.signal);
      } finally {
        display.close();
      }
    }),
});

/** A daemon that goes is waited for; its modems are not touched meanwhile. */
async function watch(
  first: NodeOperator,
  settings: DaemonSettings,
  display: Display,
  signal: AbortSignal,
): Promise<void> {
  const { daemonBack } = await import('../open-operator.ts');
  let last: WatchedHost | undefined;
  const isEnded = (): boolean => signal.aborted;
  for (
    let operator: NodeOperator | undefined = first;
    !isEnded();
    operator = await daemonBack(settings, signal)
  ) {
    try {
      for await (const host of operator?.follow('watch', { signal }) ?? []) {
        last = host;
        display.show(
          host,
          operator?.isRunningDaemon === true
            ? ''
            : 'no daemon runs: watch uses the modems itself, and no daemon can start until Ctrl-C',
        );
      }
    } catch (error) {
      if (!isAway(error)) throw error;
    }
    if (!isEnded()) display.show(last, 'the daemon stopped: waiting for it');
  }
}

function tableOnTerminal(): Display {
  const { stdout } = process;
  const isColored = hasColors(stdout);
  let shown: Parameters<Display['show']> = [undefined, 'reading the modems'];
  const draw = (): void => {
    const columns = stdout.columns || USUAL_SIZE.columns;
    const rows = stdout.rows || USUAL_SIZE.rows;
    const lines = watchScreen(...shown, { columns, rows, isColored });
    // A line is cleared before it is written: behind one that fills it the clearing would take its last character.
    stdout.write(HOME + lines.map((line) => CLEAR_LINE + line).join('\r\n') + afterLast(lines.length, rows));
  };
  const leave = (): void => void stdout.write(LEAVE);
  // Runs at every end of the process but a kill -9.
  process.once('exit', leave);
  stdout.write(ENTER);
  stdout.on('resize', draw);
  draw();
  return {
    show(...what) {
      shown = what;
      draw();
    },
    close() {
      process.off('exit', leave);
      stdout.off('resize', draw);
      leave();
    },
  };
}

/** In the last row there is nothing below, and the cursor may stand on the last character. */
const afterLast = (lines: number, rows: number): string => (lines < rows ? NEXT_LINE + CLEAR_BELOW : '');

function linesOfChanges(): Display {
  const shownStates = new Map<string, string>();
  let lastNote = '';
  return {
    show(host, note) {
      if (note !== lastNote && note !== '') printAside(note);
      lastNote = note;
      for (const slot of host?.slots ?? []) {
        const state = JSON.stringify([
          slot.state,
          slot.reason,
          slot.operator,
          slot.signal_dbm,
          slot.last_event,
        ]);
        if (shownStates.get(slot.slot) === state) continue;
        shownStates.set(slot.slot, state);
        print(onOneLine(watchLine(host?.at ?? '', slot)));
      }
    },
    close: () => undefined,
  };
}
