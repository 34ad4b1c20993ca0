// `node-daemon logs`: the last lines of the running daemon's log.
import { OperatorError } from '#shared/operator/operator-error.ts';
import { programCommand } from '#shared/process/commands.ts';
import { switchOption } from '#shared/process/options.ts';
import { hasColors, onOneLine, toJson } from '#shared/process/terminal.ts';
import { daemonAt } from '../../config/options.ts';
import { DAEMON, JSON_OPTION, printDrawn } from './with-operator.ts';

/** pino's numbers. */
const LEVELS: ReadonlyMap<unknown, readonly [name: string, color: number]> = new Map([
  [10, ['trace', 90]],
  [20, ['debug', 90]],
  [30, ['info', 32]],
  [40, ['WARN', 33]],
  [50, ['ERROR', 31]],
  [60, ['FATAL', 31]],
]);
const OWN_FIELDS = new Set(['level', 'time', 'pid', 'hostname', 'name', 'msg']);

export const LOGS_COMMAND = programCommand({
  usage: 'logs',
  about: 'Print the last lines of the log of the running daemon.',
  options: {
    ...DAEMON,
    follow: switchOption('Keep printing new lines'),
    json: JSON_OPTION,
  },
  async run({ follow: isFollowed, json, ...given }) {
    const { findDaemon } = await import('../open-operator.ts');
    const daemon = daemonAt(given);
    const operator = await findDaemon(daemon);
    if (operator === undefined) {
      throw new OperatorError(
        'unreachable',
        `no daemon uses ${daemon.dataDir}, and only a running daemon can show its log. For older lines: journalctl -u simrack-node-daemon`,
      );
    }
    const isColored = hasColors(process.stdout);
    const ended = new AbortController();
    process.stdout.on('error', () => ended.abort());
    for await (const line of operator.follow('logs', { signal: ended.signal, isFollowed })) {
      printDrawn(json ? toJson(line) : shown(line, isColored));
    }
  },
});

function shown(line: Record<string, unknown>, isColored: boolean): string {
  const [level, color] = LEVELS.get(line['level']) ?? ['?', 0];
  const time = typeof line['time'] === 'number' ? new Date(line['time']).toISOString().slice(11, 23) : '';
  const fields = Object.entries(line)
    .filter(([key]) => !OWN_FIELDS.has(key))
    .map(([key, value]) => `${key}=${shownValue(value)}`);
  const word = level.padEnd(5);
  const name = isColored ? `\u001b[${color}m${word}\u001b[0m` : word;
  return `${time} ${name} ${onOneLine([String(line['msg'] ?? ''), ...fields].join('  '))}`;
}

function shownValue(value: unknown): string {
  if (typeof value === 'string') return value;
  const isError = typeof value === 'object' && value !== null && 'message' in value;
  return isError ? String(value.message) : JSON.stringify(value);
}
