// Removes secrets from what the checks found: errors of servers and libraries may repeat them.
import type { CheckedSettings } from './checks/check.ts';

const MASK = '***';

/** Shorter ones would change ordinary words, and protect nothing. */
const LENGTH_MIN = 4;

/** Returns what replaces every secret of the configuration in a text. */
export function withoutSecrets({ config }: CheckedSettings): (text: string) => string {
  const urls = [config.databaseUrl, config.rpcUrl, config.facilitatorUrl, config.alertWebhookUrl].concat(
    config.natsUrl ?? [],
  );
  const secrets = [
    config.relayerKey,
    config.relayerKeyFile,
    ...(config.relayerFormerKeyFile ?? []),
    config.consoleRefundKeyFile,
    config.alertWebhookSecret?.toString('base64'),
    config.smtpUrl?.credentials?.pass,
    ...urls.flatMap((url) => (url === undefined ? [] : secretsOf(url))),
  ];
  const found = secrets.flatMap((secret) =>
    secret === undefined || secret.length < LENGTH_MIN ? [] : [secret, secret.replace(/^0x/, '')],
  );
  const longestFirst = [...new Set(found)].sort((a, b) => b.length - a.length);
  return (text) => longestFirst.reduce((clean, secret) => clean.replaceAll(secret, MASK), text);
}

/** Providers put keys into the password, the path, or the query. The name of a database is in the path, and no secret. */
function secretsOf(text: string): string[] {
  const password = /^[a-z]+:\/\/[^@/?#]*?:([^@]*)@/i.exec(text)?.[1] ?? '';
  const isPath = /^https?:/i.test(text) && URL.canParse(text);
  const { pathname = '', searchParams = new URLSearchParams() } = isPath ? new URL(text) : {};
  const paths = pathname.split('/').filter((part) => part.length >= 16);
  return [password, decoded(password), ...paths, ...searchParams.values()];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
