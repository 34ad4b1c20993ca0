// The operator API on a database: checks the input, calls the procedure, and writes each change down with its operator.
import type * as z from 'zod';
import type { Clock } from '#shared/clock.ts';
import { checkedAnswer, checkedInput } from '#shared/operator/procedure.ts';
import type { Database } from '../store/database/database.ts';
import { AuditTrail } from './audit-trail.ts';
import { type Operator, PROCEDURES } from './procedures/all-procedures.ts';
import type { Context, ControlPlaneProcedure } from './procedures/procedure.ts';

/** The actor of every command: a person with a shell on the host of the service. */
export const COMMAND_LINE = 'command line';

type OperatorApiParts = Omit<Context, 'now'> & {
  clock: Clock;
  /** The operator's name in the audit log. */
  actor: string;
  /** Called after each change. */
  acted(): void;
};

type AnyProcedure = ControlPlaneProcedure<z.ZodType, z.ZodType>;

export function createOperatorApi({ clock, actor, acted, ...parts }: OperatorApiParts): Operator {
  const now = (): Date => new Date(clock.now());
  const trail = new AuditTrail(parts.db, now);
  const call = async (name: keyof typeof PROCEDURES, input: unknown): Promise<unknown> => {
    const checked = checkedInput(PROCEDURES, name, input);
    const { audit, after, run } = PROCEDURES[name] as unknown as AnyProcedure;
    // Within the transaction of a change: it is undone if its answer is wrong.
    const work = async (db: Database): Promise<unknown> =>
      checkedAnswer(PROCEDURES, name, await run({ ...parts, now: now(), db }, checked));
    if (audit === undefined) return work(parts.db);
    const entry = { actor, action: name, subject: audit.subject(checked) };
    const detail = (answer?: unknown): Record<string, unknown> => audit.detail?.(checked, answer) ?? {};
    const answer = await trail[audit.how](entry, detail, work);
    await after?.({ ...parts, now: now() }, checked);
    acted();
    return answer;
  };
  return { call: (name, input) => call(name, input) as never };
}
