// `simrack subscribe | recover | number | availability | waitlist`: get a number, and show it.
import { type Command, Option } from 'commander';
import { OPERATION } from '#shared/api/operations.ts';
import { PAYMENT_PROTOCOLS } from '../payments/sign.ts';
import { answering, answers, dollars, fieldsOf } from './arguments.ts';
import type { CommandSession } from './session.ts';
import { keepToken, runSubscribe, type SignedIn, type SubscribeOptions } from './subscribe.ts';

const SIGNED_IN = ['number', 'expires_at', 'token'];

export function addAccountCommands(program: Command, session: () => CommandSession): void {
  /** The token is stored in its file; it is printed only on request. */
  const answer = (
    { output }: CommandSession,
    { token, ...shown }: SignedIn,
    showToken: boolean | undefined,
  ): void => output.answer(showToken === true || output.prints('token') ? { token, ...shown } : shown);

  answering(program.command('subscribe'), [...SIGNED_IN, 'outcome'])
    .description(
      'Buy a number for a year. If the wallet has one, print it, sign in if necessary, and pay nothing.',
    )
    .option('--renew', 'Pay for another year of the same number')
    .addOption(
      new Option('--max <dollars>', 'Maximum price').argParser(dollars).default(dollars('2000'), '2000'),
    )
    .addOption(
      new Option('--protocol <protocol>', 'Payment protocol: x402 of version 1 or 2, or MPP')
        .choices(PAYMENT_PROTOCOLS)
        .default('x402-v1'),
    )
    .option('--show-token', 'Also print the token')
    .action(async ({ showToken, ...options }: SubscribeOptions & { showToken?: boolean }) => {
      const at = session();
      await runSubscribe(at, options, (subscribed) => answer(at, subscribed, showToken));
    });
  answering(program.command('recover'), SIGNED_IN)
    .description('Get a new token with a signature of the wallet. All older tokens are revoked.')
    .option('--show-token', 'Also print the token')
    .action(async ({ showToken }: { showToken?: boolean }) => {
      const at = session();
      const account = await at.account();
      // Reports an unusable file before the old token is revoked.
      at.store.read(account.address);
      const signedIn = await at.anonymous().recover({ account });
      keepToken(at, account, signedIn);
      answer(at, signedIn, showToken);
    });
  answering(program.command('number'), fieldsOf(OPERATION.number))
    .description('Show the number and when it expires.')
    .action(answers(session, async (at) => (await at.client()).number()));
  answering(program.command('availability'), fieldsOf(OPERATION.availability))
    .description('Show how many numbers are available.')
    .action(answers(session, (at) => at.anonymous().availability()));
  answering(program.command('waitlist'), fieldsOf(OPERATION.waitlist))
    .description('Get a mail when numbers are available again.')
    .argument('<email>')
    .action(answers(session, (at, email: string) => at.anonymous().joinWaitlist({ email })));
}
