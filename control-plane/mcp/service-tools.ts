// Tools for callers without a token: the services on sale, and their availability.
import * as z from 'zod';
import { servicesSchema } from '#shared/api/answers.ts';
import { OPERATION } from '#shared/api/operations.ts';
import { createServices, type ServicesParts } from '../handlers/services.ts';
import { availability } from '../handlers/subscription.ts';
import { publicTool, type Tool } from './tool.ts';

const LOOKS_ONLY = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };

const nothing = z.object({});

export function serviceTools(parts: ServicesParts): Tool[] {
  const services = createServices(parts);
  return [
    publicTool({
      name: 'list_services',
      title: 'Services on sale',
      description:
        'A real US mobile number for a year: its price in every accepted currency, how many are available, and where ' +
        'the rest is described. Needs no token. To get a number: POST to `subscribe`, pay the 402 with a wallet (x402 or MPP), ' +
        'and send the token of the response as `Authorization: Bearer`.',
      input: nothing,
      output: servicesSchema,
      annotations: LOOKS_ONLY,
      run: () => services(),
    }),
    publicTool({
      name: 'check_availability',
      title: 'How many numbers are left',
      description: `${OPERATION.availability.summary}. Needs no token.`,
      input: nothing,
      output: OPERATION.availability.answer,
      annotations: LOOKS_ONLY,
      run: () => availability(parts),
    }),
  ];
}
