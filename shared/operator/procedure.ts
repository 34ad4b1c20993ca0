// Procedures: the operations that a program offers to its operators. Each has schemas of its input and its answer, and an audit of its
// change. Commands and pages call them through an `OperatorClient`, in the same process or over a local socket.
import * as z from 'zod';
import { OperatorError } from './operator-error.ts';

/** The record of a change. */
export interface Audit<Input, Answer> {
  /** Target: a slot, a number, a payment … */
  subject(input: Input): string;
  /** The values, without secrets; `answer` where it was done. */
  detail?(input: Input, answer: Answer | undefined): Record<string, unknown>;
}

/** Called with a context of the program, and the input after its check. */
export interface Procedure<Context, Input extends z.ZodType, Output extends z.ZodType> {
  readonly input: Input;
  /** Only its fields leave the program, as its codecs encode them. */
  readonly output: Output;
  run(context: Context, input: z.output<Input>): Promise<z.output<Output>>;
}

interface AnyProcedure {
  readonly input: z.ZodType;
  readonly output: z.ZodType;
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
export type AnswerOf<P extends Procedures, N extends keyof P> = Json<z.output<P[N]['output']>>;

/** The one that asks. */
export interface Caller {
  /** The name of the person, as the command reports it. */
  readonly name?: string;
  /** The caller no longer waits for the answer. */
  readonly signal?: AbortSignal;
}

/** An operator's access to a program's procedures, wherever they run. */
export interface OperatorClient<P extends Procedures> {
  /** Throws `OperatorError`. */
  call<N extends keyof P & string>(name: N, input: InputOf<P, N>, caller?: Caller): Promise<AnswerOf<P, N>>;
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

/**
 * The answer as JSON has it. An answer that its schema does not allow is a fault of the program: the error names the procedure and the
 * fields, without their values.
 */
export function checkedAnswer<P extends Procedures, N extends keyof P & string>(
  procedures: P,
  name: N,
  answer: unknown,
): AnswerOf<P, N> {
  const encoded = z.safeEncode(procedures[name]?.output ?? z.never(), answer as never);
  if (encoded.success) return encoded.data as AnswerOf<P, N>;
  const problems = encoded.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
  throw new Error(`the procedure "${name}" answered wrongly: ${problems.join('; ')}`);
}
