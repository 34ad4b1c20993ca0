// The parts of a procedure: its input, its audit entry if it changes something, and its work.
import type * as z from 'zod';
import type { Procedure } from '#shared/operator/procedure.ts';
import type { Pins } from '../../store/cards/fleet-apply.ts';
import type { Database } from '../../store/database/database.ts';

/** Operations that need a running service, because they ask nodes. */
export interface NodeOperations {
  /** Resolves when the restart has begun. Throws `OperatorRefusal`. */
  restartModem(node: string, slot: string, force: boolean): Promise<void>;
  /** Begins a text between two unassigned numbers, and returns the id of the probe. Throws `OperatorRefusal`. */
  sendTest(from: string, to: string): Promise<{ id: string }>;
  /** Ends a link that the node may no longer have; at another instance soon, and without the bus within a heartbeat. */
  recheck(node: string): Promise<void>;
}

export interface Context {
  /** For a change: the transaction that also writes the audit entry. */
  db: Database;
  now: Date;
  nodes: NodeOperations;
  /** Base URL that nodes are given. */
  url: string;
  pins: Pins;
  /** Makes every instance drop what it caches about a subscription. */
  subscriptionChanged(subscriptionId: string): void | Promise<void>;
}

interface Audit<Input, Answer> {
  /** `change`: the entry and the change are in one transaction. `command`: the entry is there before a node is asked. */
  how: 'change' | 'command';
  subject(input: Input): string;
  /** The values, without secrets; `answer` where it was done. */
  detail?(input: Input, answer: Answer | undefined): Record<string, unknown>;
}

export interface ControlPlaneProcedure<S extends z.ZodType, Answer> extends Procedure<Context, S, Answer> {
  /** Audit entry, for a procedure that changes something. */
  readonly audit?: Audit<z.output<S>, Answer>;
  /** Runs when the change is committed. */
  after?(context: Context, input: z.output<S>): Promise<void> | void;
}

/** Checks the types of a procedure where it is defined. */
export const procedure = <S extends z.ZodType, Answer>(
  definition: ControlPlaneProcedure<S, Answer>,
): ControlPlaneProcedure<S, Answer> => definition;

/** A procedure that changes the database and has nothing to answer. */
export const change = <S extends z.ZodType>(
  input: S,
  {
    subject,
    detail,
    run,
    after,
  }: Omit<Audit<z.output<S>, null>, 'how'> & {
    run(context: Context, input: z.output<S>): Promise<unknown>;
    after?(context: Context, input: z.output<S>): Promise<void> | void;
  },
): ControlPlaneProcedure<S, null> => ({
  input,
  audit: { how: 'change', subject, ...(detail === undefined ? {} : { detail }) },
  async run(context, asked) {
    await run(context, asked);
    return null;
  },
  ...(after === undefined ? {} : { after }),
});

/** `next` is the `after` of the next page; null on the last. */
export interface Page<R, K = string> {
  rows: R[];
  next: K | null;
}

/** `rows` has one more than `limit` where there is a next page. */
export function pageOf<R, K = string>(rows: R[], limit: number, keyOf: (row: R) => K): Page<R, K> {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  return { rows: shown, next: rows.length > limit && last !== undefined ? keyOf(last) : null };
}
