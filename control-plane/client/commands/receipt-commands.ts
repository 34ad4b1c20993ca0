// `simrack receipts | verify`: the signed receipts of a subscription, and their verification without the service.
import type { Command } from 'commander';
import { KEYS_PATH, type Receipt, receiptHashSchema } from '#shared/api/receipts.ts';
import { answering, wholeNumber } from './arguments.ts';
import { RefusedError, readInput, UsageError } from './failures.ts';
import { headOf, type ReceiptFile, verifyReceipts } from './receipt-verification.ts';
import type { CommandSession } from './session.ts';

export function addReceiptCommands(program: Command, session: () => CommandSession): void {
  answering(program.command('receipts'), ['receipts', 'head'])
    .description('Print all signed receipts of payments, texts and calls, for a file that verify reads.')
    .option('--after <sequence>', 'Only those after this one', wholeNumber, 0)
    .option('--sign', 'Sign with the wallet instead of a token: works after the subscription has ended, too')
    .action(async ({ after, sign }: { after: number; sign?: true }) => {
      const at = session();
      const receipts: Receipt[] = [];
      const account = sign === true ? await at.account() : undefined;
      const client = sign === true ? at.anonymous() : await at.client();
      for await (const receipt of client.allReceipts({ after, account })) receipts.push(receipt);
      const file: ReceiptFile = { receipts, head: headOf(receipts) };
      at.output.answer(file, receipts);
    });
  answering(program.command('verify <file>'), ['valid', 'count', 'head', 'problems', 'warnings'])
    .description(
      'Verify a file of receipts: signatures, order, and that none is missing before the last. See --since.',
    )
    .option('--keys <file>', `Key set of the service, to verify offline; default: fetch ${KEYS_PATH}`)
    .option(
      '--since <hash>',
      'Hash of the newest receipt that you know: the file must have it, or begin after it. Without it, the command does not notice if the newest receipts are missing',
    )
    .action(async (path: string, { keys, since }: { keys?: string; since?: string }) => {
      if (since !== undefined && !receiptHashSchema.safeParse(since).success)
        throw new UsageError('--since must be the hash of a receipt, as in head.hash');
      const at = session();
      const keySet = keys === undefined ? await at.anonymous().receiptKeys() : jsonFile(keys);
      const verified = await verifyReceipts(jsonFile(path), keySet, { since });
      for (const warning of verified.warnings) at.output.note(`warning: ${warning}`);
      at.output.answer(verified);
      if (!verified.valid) throw new RefusedError('the receipts are not valid');
    });
}

/** Throws `UsageError`. */
function jsonFile(path: string): unknown {
  const bytes = readInput(path);
  try {
    // Octets that are not UTF-8 would be replaced, and a changed bit in them would not show.
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    throw new UsageError(`${path}: not JSON: ${(error as Error).message}`);
  }
}
