// Logs in to a site that texts a one-time code. npm i <path of simrack-client-0.1.0.tgz> viem
import { isApiError, SimrackClient } from 'simrack-client';
import { privateKeyToAccount } from 'viem/accounts';

const { SIMRACK_URL: baseUrl, SIMRACK_TOKEN: token, SITE_URL: site, WALLET_KEY: key } = process.env;
const account = privateKeyToAccount(key);
const client = new SimrackClient({ baseUrl, token });
const options = { account, maxAmount: 1_800_000_000n }; // up to 1,800 USDC, for a year

// Without a stored token: the wallet's number, if it has one. This is free, and ends the older tokens of the number.
const signedIn = () =>
  client.recover(options).catch((error) => {
    if (isApiError(error, 'no_active_subscription')) return client.subscribe(options);
    throw error;
  });
const { number } = token ? await client.number() : await signedIn();

const post = async (path, body) => {
  const headers = { 'Content-Type': 'application/json' };
  const answer = await fetch(site + path, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return answer.json();
};

// Codes of earlier attempts are of no use.
await client.receive({ limit: 100 });
await post('/login', { phone: number });
const hasCode = ({ body }) => /\b\d{6}\b/.test(body);
const { body } = await client.waitForMessage({ timeoutMs: 120_000, match: hasCode });
const { user } = await post('/verify', { phone: number, code: /\b\d{6}\b/.exec(body)[0] });
console.log(`logged in as ${user}`);
