// The URLs that webhooks may have.
import { Refusal } from './refusal.ts';

/**
 * Returns the URL in its normal form. Throws `Refusal` `webhook_url_not_allowed`. The address is checked where the connection is made: a
 * name may lead elsewhere by then. `allowsHttp`: for development.
 */
export function checkWebhookUrl(text: string, { allowsHttp }: { allowsHttp: boolean }): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined) throw notAllowed('is not a URL');
  if (url.protocol !== 'https:' && !(allowsHttp && url.protocol === 'http:'))
    throw notAllowed('must be https');
  if (url.username !== '' || url.password !== '') throw notAllowed('must not have a user name or a password');
  if (url.hash !== '' || text.includes('#')) throw notAllowed('must not have a fragment');
  return url.href;
}

/** Throws `webhook_url_not_allowed`: the same for every address, so that the answer is no map of a network. */
export const addressNotAllowed = (): Refusal => notAllowed('must have a public address');

const notAllowed = (what: string): Refusal =>
  new Refusal('webhook_url_not_allowed', `"url" ${what}`, {
    details: { field: 'url', expected: 'an https URL with a public address' },
  });
