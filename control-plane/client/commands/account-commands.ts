// `simrack subscribe | recover | number | availability | waitlist`: how to get a number, and what is known of it.
import { type Command, Option } from 'commander';
import { ApiError } from '../api-error.ts';
import { PAYMENT_WAYS, type PaymentWay } from '../payments/sign.ts';
import { dollars } from './arguments.ts';
import type { Session } from './session.ts';

const DOLLARS_MAX = dollars('2000');

interface SubscribeOptions {
  max: bigint;
  way: PaymentWay;
  showToken?: boolean;
}

export function addAccountCommands(program: Command, session: () => Session): void {
  program
    .command('subscribe')
    .description('pay for a number for a year, or for a year more; keeps the token')
    .option('--max <dollars>', 'pay at most this (default 2000)', dollars, DOLLARS_MAX)
    .addOption(new Option('--way <way>', 'how to pay').choices(PAYMENT_WAYS).default('x402-v1'))
    .option('--show-token', 'print the token, too')
    .action((options: SubscribeOptions) => subscribe(session(), options));
  program
    .command('recover')
    .description('get a new token for the wallet’s signature; all older ones end')
    .option('--show-token', 'print the token, too')
    .action(async ({ showToken }: { showToken?: boolean }) => {
      const at = session();
      const account = at.account();
      const { token, ...signedIn } = await at.stranger().recover(account);
      keep(at, { token, number: signedIn.number, wallet: account.address });
      at.answer(showToken === true ? { token, ...signedIn } : signedIn);
    });
  program
    .command('number')
    .description('the number, and until when')
    .action(async () => session().answer(await session().client().number()));
  program
    .command('availability')
    .description('how many numbers can be had')
    .action(async () => session().answer(await session().stranger().availability()));
  program
    .command('waitlist')
    .description('be told by mail when numbers are there again')
    .argument('<email>')
    .action(async (email: string) => session().answer(await session().stranger().joinWaitlist({ email })));
}

async function subscribe(at: Session, { max, way, showToken }: SubscribeOptions): Promise<void> {
  const account = at.account();
  const { store } = at;
  const resume = store.pending(account.address);
  if (resume !== undefined) at.note('an earlier payment is looked after; no other is made');
  try {
    const { token, recovered, ...bought } = await at.stranger().subscribe({
      ...{ account, way, maxAmount: max, resume },
      onSigned(payment) {
        store.savePending(account.address, payment);
        at.note('paying …');
      },
      onWait: ({ code }) => at.note(`waiting for the payment to arrive (${code}) …`),
    });
    keep(at, { token, number: bought.number, wallet: account.address });
    store.clearPending(account.address);
    at.answer({ ...(showToken === true ? { token } : {}), ...bought, recovered });
  } catch (error) {
    // Every other refusal says that this payment has moved nothing, or has been used up.
    if (error instanceof ApiError && error.code !== 'settlement_pending' && !error.isNoAnswer)
      store.clearPending(account.address);
    throw error;
  }
}

function keep(at: Session, credentials: { token: string; number: string; wallet: string }): void {
  at.store.save({ base_url: at.baseUrl, ...credentials });
  at.note(`the token is in ${at.store.file}`);
}
