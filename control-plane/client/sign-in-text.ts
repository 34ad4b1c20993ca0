// The text that a wallet signs to get a token. Another service could relay this one's text and use the signature here.
import type { AnswerOf, OPERATION } from '#shared/api/operations.ts';
import { isLoopback } from '#shared/loopback.ts';
import { noAnswer } from './api-error.ts';

/**
 * The text of a nonce, if it signs in to `domain`: by default the host of `baseUrl`, and any domain for this machine. Throws `ApiError`
 * `invalid_answer` for any other text.
 */
export function signInText(
  { nonce, message }: AnswerOf<typeof OPERATION.nonce>,
  { baseUrl, domain }: { baseUrl: string; domain: string | undefined },
): string {
  const { hostname } = new URL(baseUrl);
  const [, named] = /^Sign in to (\S+) SMS\n/.exec(message) ?? [];
  if (
    named === undefined ||
    message !== `Sign in to ${named} SMS\nNonce: ${nonce}` ||
    !/^[\w-]+$/.test(nonce)
  )
    throw noAnswer('invalid_answer', 'the service asks the wallet to sign something else than a sign-in');
  const isSame = named.toLowerCase() === (domain ?? hostname).toLowerCase();
  // A tunnel may start at this machine.
  if (isSame || (domain === undefined && isLoopback(hostname))) return message;
  throw noAnswer(
    'invalid_answer',
    `${baseUrl} asks the wallet to sign in to ${named}, which is not its host. If it is the same service, name that domain: the option "domain", or SIMRACK_DOMAIN.`,
  );
}
