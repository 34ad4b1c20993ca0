// The parts of a procedure: its input and output, its audit entry if it changes something, and its work.
import * as z from 'zod';
import type { Audit, Json, Procedure } from '#shared/operator/procedure.ts';
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

/** `change`: the entry and the change are in one transaction. `command`: the entry is there before a node is asked. */
type How = { how: 'change' | 'command' };

export interface ControlPlaneProcedure<I extends z.ZodType, O extends z.ZodType>
  extends Procedure<Context, I, O> {
  /** Audit entry, for a procedure that changes something. */
  readonly audit?: How & Audit<z.output<I>, Json<z.output<O>>>;
  /** Runs when the change is committed. */
  after?(context: Context, input: z.output<I>): Promise<void> | void;
}

/** Checks the types of a procedure where it is defined. */
export const procedure = <I extends z.ZodType, O extends z.ZodType>(
  definition: ControlPlaneProcedure<I, O>,
): ControlPlaneProcedure<I, O> => definition;

/** A procedure that changes the database and has nothing to answer. */
export const change = <I extends z.ZodType>(
  input: I,
  {
    subject,
    detail,
    run,
    after,
  }: Audit<z.output<I>, null> & {
    run(context: Context, input: z.output<I>): Promise<unknown>;
    after?(context: Context, input: z.output<I>): Promise<void> | void;
  },
): ControlPlaneProcedure<I, z.ZodNull> => ({
  input,
  output: z.null(),
  audit: { how: 'change', subject, ...(detail === undefined ? {} : { detail }) },
  async run(context, asked) {
    await run(context, asked);
    return null;
  },
  ...(after === undefined ? {} : { after }),
});

/** `next` is the `after` of the next page; null on the last. */
export const pageSchema = <R extends z.ZodType, K extends z.ZodType>(row: R, next: K) =>
  z.object({ rows: z.array(row), next: next.nullable() });

/** `rows` has one more than `limit` where there is a next page. */
export function pageOf<R, K>(rows: R[], limit: number, keyOf: (row: R) => K): { rows: R[]; next: K | null } {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  return { rows: shown, next: rows.length > limit && last !== undefined ? keyOf(last) : null };
}
