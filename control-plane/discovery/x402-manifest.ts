// /.well-known/x402: what can be bought here, in the format that x402scan reads. The terms are in the 402 itself.
import { OPERATION } from '#shared/api/operations.ts';
import { requirementsOf } from '../payments/challenge.ts';
import type { Sale } from '../payments/offer.ts';

export const x402Manifest = ({ baseUrl, sale }: { baseUrl: string; sale: Sale }) => ({
  version: 1,
  resources: [sale.resource],
  instructions:
    `POST ${baseUrl}${OPERATION.subscribe.path} buys a US mobile number for a year. It belongs to the wallet that pays: ` +
    `pay with one that is kept. Read ${baseUrl}/llms.txt first.`,
  x402Version: 2,
  accepts: sale.offers.map(requirementsOf),
});
