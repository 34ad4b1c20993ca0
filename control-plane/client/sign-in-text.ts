// The text that a wallet signs to get a token. A false service could pass on that of another one, and use the signature there.
import type { AnswerOf, OPERATION } from '#shared/api/operations.ts';
import { noAnswer } from './api-error.ts';

/** The own machine, which a tunnel may lead through. */
const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;

/**
 * The text of a nonce, if it signs in to `domain`: by default the host of `baseUrl`, and any domain on the own machine. Throws `ApiError`
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
  if (named === (domain ?? hostname) || (domain === undefined && LOOPBACK.test(hostname))) return message;
  throw noAnswer(
    'invalid_answer',
    `${baseUrl} asks the wallet to sign in to ${named}, which is not its host. If it is the same service, name that domain as "domain".`,
  );
}
