// Procedures: the operations that a program offers to its operators, each with a schema of its input. Commands and pages call them
// through an `OperatorClient`, in the same process or over a local socket.
import type * as z from 'zod';
import { OperatorError } from './operator-error.ts';

/** Called with a context of the program, and the input after its check. */
export interface Procedure<Context, Schema extends z.ZodType, Answer> {
  readonly input: Schema;
  run(context: Context, input: z.output<Schema>): Promise<Answer>;
}

interface AnyProcedure {
  readonly input: z.ZodType;
  // biome-ignore lint/suspicious/noExplicitAny: procedures of one table have different inputs
  run(context: any, input: any): Promise<unknown>;
}

/** A program's procedures by name. */
export type Procedures = Readonly<Record<string, AnyProcedure>>;

/** The type of a value after a round trip through JSON; a bigint is a string. */
export type Json<T> = T extends Date | bigint
  ? string
  : T extends object
    ? { [K in keyof T]: Json<T[K]> }
    : T;

/** The input as callers write it: fields with a default may be left out. */
export type InputOf<P extends Procedures, N extends keyof P> = z.input<P[N]['input']>;
export type AnswerOf<P extends Procedures, N extends keyof P> = Json<Awaited<ReturnType<P[N]['run']>>>;

/** An operator's access to a program's procedures, wherever they run. */
export interface OperatorClient<P extends Procedures> {
  /** Throws `OperatorError`. `signal`: the caller no longer waits for the answer. */
  call<N extends keyof P & string>(
    name: N,
    input: InputOf<P, N>,
    signal?: AbortSignal,
  ): Promise<AnswerOf<P, N>>;
}

/** The input after its check. Throws an `OperatorError` that says what is wrong with it. */
export function checkedInput(procedures: Procedures, name: string, input: unknown): unknown {
  const procedure = Object.hasOwn(procedures, name) ? procedures[name] : undefined;
  if (procedure === undefined) throw new OperatorError('refused', `there is no operation "${name}"`);
  const parsed = procedure.input.safeParse(input);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new OperatorError(
    'refused',
    [issue?.path.join('.'), issue?.message].filter(Boolean).join(': '),
    parsed.error,
  );
}

/** The same answer as over a socket, for a client in the same process. */
export const asJson = <T>(value: T): Json<T> => JSON.parse(jsonText(value)) as Json<T>;

export const jsonText = (value: unknown): string =>
  JSON.stringify(value, (_key, part: unknown) => (typeof part === 'bigint' ? String(part) : part));
