// The operator API on the modems that this process has: in the daemon, and in a command that found no daemon.
import type * as z from 'zod';
import { OperatorError } from '#shared/operator/operator-error.ts';
import {
  type AnswerOf,
  type Caller,
  checkedAnswer,
  checkedInput,
  type InputOf,
} from '#shared/operator/procedure.ts';
import type { Host } from '../host/host.ts';
import type { CommandHandler } from '../link/command-handler.ts';
import { audited } from './audited.ts';
import type { NodeOperator, Streams } from './node-operator.ts';
import { PROCEDURES } from './procedures/all-procedures.ts';
import type { DaemonProcedure } from './procedures/procedure.ts';
import { SentBefore } from './procedures/sent-before.ts';
import type { RecentLog } from './recent-log.ts';
import type { SlotActivity } from './slot-activity.ts';

interface HostOperatorParts {
  readonly host: Host;
  readonly commands: Pick<CommandHandler, 'handle'>;
  readonly activity: SlotActivity;
  /** Recent log of the daemon. */
  readonly recentLog?: RecentLog | undefined;
  readonly onClose?: () => Promise<void>;
}

type Procedures = typeof PROCEDURES;

export class HostOperator implements NodeOperator {
  readonly isRunningDaemon: boolean = false;
  readonly #parts: HostOperatorParts;
  readonly #sentBefore = new SentBefore(() => this.#parts.host.journal.state.commands);

  constructor(parts: HostOperatorParts) {
    this.#parts = parts;
  }

  async call<N extends keyof Procedures>(
    name: N,
    input: InputOf<Procedures, N>,
    caller: Caller = {},
  ): Promise<AnswerOf<Procedures, N>> {
    const checked = checkedInput(PROCEDURES, name, input);
    const { host, commands } = this.#parts;
    const context = { host, commands, sentBefore: this.#sentBefore, caller };
    const { audit, run } = PROCEDURES[name] as unknown as DaemonProcedure<z.ZodType, z.ZodType>;
    const work = async (): Promise<AnswerOf<Procedures, N>> =>
      checkedAnswer(PROCEDURES, name, await run(context, checked));
    if (audit === undefined || audit.isChange?.(checked) === false) return work();
    const subject = audit.subject(checked);
    const detail = (answer?: unknown): Record<string, unknown> => audit.detail?.(checked, answer) ?? {};
    return audited<AnswerOf<Procedures, N>>(host.log, { caller, action: name, subject, detail }, work);
  }

  follow<S extends keyof Streams>(
    stream: S,
    { signal, isFollowed = true }: { signal: AbortSignal; isFollowed?: boolean },
  ): AsyncIterable<Streams[S]> {
    const items = stream === 'watch' ? this.#parts.activity.follow(signal) : this.#logs(signal, isFollowed);
    return items as AsyncIterable<Streams[S]>;
  }

  async close(): Promise<void> {
    this.#parts.activity.stop();
    await this.#parts.onClose?.();
  }

  async *#logs(signal: AbortSignal, isFollowed: boolean): AsyncGenerator<Streams['logs']> {
    const { recentLog } = this.#parts;
    if (recentLog === undefined) {
      throw new OperatorError(
        'unreachable',
        'no daemon runs here, and only a running daemon can show its log. For older lines: journalctl -u simrack-node-daemon',
      );
    }
    for await (const line of recentLog.lines(signal, isFollowed)) yield JSON.parse(line) as Streams['logs'];
  }
}
