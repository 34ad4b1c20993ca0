// The operator API on a database: checks the input, calls the procedure, and writes each change down with its operator.
import type { Clock } from '#shared/clock.ts';
import { asJson, checkedInput } from '#shared/operator/procedure.ts';
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

type AnyProcedure = ControlPlaneProcedure<never, unknown>;

export function createOperatorApi({ clock, actor, acted, ...parts }: OperatorApiParts): Operator {
  const now = (): Date => new Date(clock.now());
  const trail = new AuditTrail(parts.db, now);
  const call = async (name: keyof typeof PROCEDURES, input: unknown): Promise<unknown> => {
    const checked = checkedInput(PROCEDURES, name, input) as never;
    const { audit, after, run } = PROCEDURES[name] as unknown as AnyProcedure;
    const work = (db: Database): Promise<unknown> => run({ ...parts, now: now(), db }, checked);
    if (audit === undefined) return asJson(await work(parts.db));
    const entry = { actor, action: name, subject: audit.subject(checked) };
    const detail = (answer?: unknown): Record<string, unknown> => audit.detail?.(checked, answer) ?? {};
    const answer = await trail[audit.how](entry, detail, work);
    await after?.({ ...parts, now: now() }, checked);
    acted();
    return asJson(answer);
  };
  return { call: (name, input) => call(name, input) as never };
}
