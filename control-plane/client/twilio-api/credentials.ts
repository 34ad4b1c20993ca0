// The credentials of the API: HTTP Basic, the account sid as user name and the auth token as password.
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** As long as Twilio's. */
export const newAuthToken = (): string => randomBytes(16).toString('hex');

export const ACCOUNT_SID_PATTERN = /^AC[0-9a-fA-F]{32}$/;

/** Whether `authorization`, the header, has these credentials. The time that it takes does not depend on them. */
export function isAuthorized(
  authorization: string | undefined,
  { sid, authToken }: { sid: string; authToken: string },
): boolean {
  const encoded = /^Basic ([\w+/-]+={0,2})$/i.exec(authorization ?? '')?.[1] ?? '';
  const given = Buffer.from(encoded, 'base64');
  return timingSafeEqual(digest(given), digest(Buffer.from(`${sid}:${authToken}`)));
}

const digest = (bytes: Buffer): Buffer => createHash('sha256').update(bytes).digest();
