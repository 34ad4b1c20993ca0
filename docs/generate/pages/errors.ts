// Every refusal of the API, every reason of a refused payment, of a failed call and of a refused command.
import { OPERATION, type Operation, refusalsOf } from '../../../shared/api/operations.ts';
import { REJECTIONS } from '../../../shared/api/payment-rejections.ts';
import { REFUSALS, type RefusalCode } from '../../../shared/api/refusals.ts';
import { COMMAND_ERRORS } from '../../../shared/link/frame.ts';
import { END_REASON } from '../../../shared/voice/release-cause.ts';
import { code, table } from '../markdown.ts';
import type { Page } from '../page.ts';

const rows = (about: Readonly<Record<string, string>>): string[][] =>
  Object.entries(about).map(([name, meaning]) => [code(name), meaning]);

/** Nearly all operations can be answered with these: naming each says nothing. */
const MANY = 8;

export const ERRORS_PAGE: Page = {
  file: 'errors.md',
  title: 'Errors',
  about:
    'A refusal is `{"error": code, "message": text, "request_id": id}`. Only the 402 of `POST /subscribe` has the form of its payment protocol. ' +
    'Codes never change; the text is for people. ' +
    'Switch on `error`. A 429 or 503 says in `Retry-After` how many seconds to wait.',
  body: () =>
    [
      '## Error codes',
      'The last column lists the requests that can be refused with this code. It is empty for codes of WebSockets, tools, nodes and unknown paths.',
      table(['Status', '`error`', 'Meaning', 'Action', 'Requests'], refusalRows()),
      '## Refused payments',
      '`POST /subscribe` answers 402 with one of these in `error`. Nothing was charged and nothing is reserved. Pay with another authorization. ' +
        'If the payment is malformed, `field` names its header, or the wrong field in it.',
      table(
        ['`error`', 'Meaning', '`errorReason` of x402'],
        Object.entries(REJECTIONS).map(([name, { meaning, ...reason }]) => [
          code(name),
          meaning,
          'x402' in reason ? code(reason.x402) : '',
        ]),
      ),
      '## Why a call ended',
      'The `reason` of `phone_node_unreachable`, of presence events and of `GET /voice/calls`.',
      table(['`reason`', 'Meaning'], rows(END_REASON)),
      '## Why a node refuses a command',
      'The node did not try the command. `POST /voice/dial` shows the code as `reason`.',
      table(['Code', 'Meaning'], rows(COMMAND_ERRORS)),
    ].join('\n\n'),
};

function refusalRows(): string[][] {
  const operations = Object.values(OPERATION) as Operation[];
  return (Object.keys(REFUSALS) as RefusalCode[]).map((name) => {
    const { action, meaning, status } = REFUSALS[name];
    const all = operations.filter((operation) => refusalsOf(operation).includes(name));
    const named = all.map(({ method, path }) => code(`${method.toUpperCase()} ${path}`)).join(', ');
    return [String(status), code(name), meaning, action, all.length > MANY ? 'most requests' : named];
  });
}
