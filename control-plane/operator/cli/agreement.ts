// Asks once more before something changes for a customer: a person at a terminal, while a script needs --yes.
import { createInterface } from 'node:readline/promises';
import type { InputOf } from '#shared/operator/procedure.ts';
import { switchOption } from '#shared/process/options.ts';
import { onLines } from '#shared/process/terminal.ts';
import { OperatorRefusal } from '../../domain/refusal.ts';
import { type CustomerEffect, shownEffect } from '../../domain/shown-value.ts';
import type { Operator, PROCEDURES } from '../procedures/all-procedures.ts';

export const AGREED_OPTION = { yes: switchOption('Do it without asking for confirmation') };

/** The previews below it are in the past tense. */
const HEADING = 'This would happen:';

const NOT_ASKED = 'Nothing was changed. Run the command with --yes to do it.';

/** Prints what would happen. */
export const showPreview = (what: string): void => {
  process.stderr.write(`${HEADING}\n${onLines(what)}\n`);
};

/** `what`: what is about to happen. Returns if `isAgreed`, or after a yes at the terminal; throws `OperatorRefusal` otherwise. */
export async function agree(what: string, isAgreed: boolean): Promise<void> {
  if (isAgreed) return;
  showPreview(what);
  if (!process.stdin.isTTY) throw new OperatorRefusal(NOT_ASKED);
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const gone = new Promise<string>((resolve) => terminal.once('close', () => resolve('')));
  try {
    const answer = await Promise.race([terminal.question('Do this? [y/N] '), gone]);
    if (!/^y(es)?$/i.test(answer.trim())) throw new OperatorRefusal('Nothing was changed.');
  } finally {
    terminal.close();
  }
}

/** The customers whom something concerns, and how. */
interface Concerned {
  of: Parameters<typeof customersOf>[1];
  effect: CustomerEffect;
  isAgreed: boolean;
}

const customersOf = (operator: Operator, of: InputOf<typeof PROCEDURES, 'customers'>) =>
  operator.call('customers', of);

/** `agree`, with the customers named. */
export async function agreeNaming(
  operator: Operator,
  what: string,
  { effect, of, isAgreed }: Concerned,
): Promise<void> {
  if (isAgreed) return;
  const concerned = shownEffect(effect, await customersOf(operator, of));
  await agree(`${what}\n${concerned ?? 'No customer is affected'}`, isAgreed);
}

/** `agreeNaming`, without a question where no customer is affected. */
export async function agreeIfCustomers(
  operator: Operator,
  what: string,
  concerned: Concerned,
): Promise<void> {
  if (concerned.isAgreed) return;
  const { count } = await customersOf(operator, concerned.of);
  if (count > 0) await agreeNaming(operator, what, concerned);
}
