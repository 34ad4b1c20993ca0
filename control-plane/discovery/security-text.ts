// /.well-known/security.txt: the contact for reports of vulnerabilities (RFC 9116).

/** RFC 9116 §2.5.5 advises less than a year. */
const VALID_DAYS = 180;
const DAY_MS = 86_400_000;

export function securityText({ baseUrl }: { baseUrl: string }, contact: string, now: Date): string {
  // Rounded to days, so that it changes only once a day.
  const today = Math.floor(now.getTime() / DAY_MS) * DAY_MS;
  return [
    `Contact: ${contact}`,
    `Expires: ${new Date(today + VALID_DAYS * DAY_MS).toISOString()}`,
    'Preferred-Languages: en',
    `Canonical: ${baseUrl}/.well-known/security.txt`,
    '',
  ].join('\n');
}
