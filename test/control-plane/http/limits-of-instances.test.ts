// Limits with two instances: each counts by itself, so a client that comes to both has both quotas, and no more.
import t, { type Test } from 'tap';
import type { Config } from '#control-plane/config/config.ts';
import { mintToken } from '#control-plane/domain/bearer-token.ts';
import { ALICE } from '../../dev-stack/wallets.ts';
import { jsonPost } from '../../fixtures/agents/json-post.ts';
import { subscribeInStore } from '../../fixtures/agents/subscribed.ts';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';
import { slotAt } from '../../fixtures/nodes/scripted-node.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig({ hasInstances: true });
const MAX = 3;

async function two(t: Test, options: Partial<Config>) {
  const given = { clock: new ManualClock(), ...options };
  const { url, databaseUrl } = await rig.start(t, given);
  const { url: other } = await rig.start(t, { ...given, databaseUrl });
  return { urls: [url, other], databaseUrl };
}

/** How many requests pass, of many more than all instances allow. */
async function passed(
  urls: readonly string[],
  path: string,
  init: RequestInit,
  good: number,
): Promise<number> {
  let count = 0;
  for (let round = 0; round < 2 * MAX; round += 1)
    for (const url of urls) {
      const { status } = await fetch(url + path, init);
      if (status === good) count += 1;
      else if (status !== 429) throw new Error(`${path}: ${status}`);
    }
  return count;
}

t.test('each instance limits an address by itself: nonces, sign-ins, guesses', async (t) => {
  const { urls } = await two(t, {
    requestsPerMinute: MAX,
    noncesPerMinute: MAX,
    signInsPerMinute: MAX,
    waitlistPerMinute: MAX,
  });
  const post = { method: 'POST' };
  t.equal(await passed(urls, '/auth/nonce', post, 200), 2 * MAX);
  t.equal(await passed(urls, '/auth', post, 400), 2 * MAX);
  const guess = { headers: { Authorization: `Bearer ${mintToken()}` } };
  t.equal(await passed(urls, '/number', guess, 401), 2 * MAX);
});

t.test('each instance limits a token by itself', async (t) => {
  const { urls, databaseUrl } = await two(t, { tokenRequestsPerMinute: MAX });
  await rig.connect(t, String(urls[0]));
  const { headers } = await subscribeInStore(databaseUrl, ALICE, String(slotAt(1).number));
  t.equal(await passed(urls, '/number', { headers }, 200), 2 * MAX);
});

t.test('a nonce is used once, whichever instance is asked', async (t) => {
  const { urls } = await two(t, {});
  const [here, there] = urls as [string, string];
  const guess = async (url: string, nonce: string): Promise<string> => {
    const answer = await fetch(
      `${url}/auth`,
      jsonPost({ wallet: ALICE.address, nonce, signature: `0x${'11'.repeat(64)}1b` }),
    );
    return ((await answer.json()) as { message: string }).message;
  };
  const used = await until('a guess that is checked', async () => {
    const answer = await fetch(`${here}/auth/nonce`, { method: 'POST' });
    const { nonce } = (await answer.json()) as { nonce: string };
    // A machine with much else to do refuses it: "Too many signatures are being checked".
    return /does not match/.test(await guess(there, nonce)) ? nonce : undefined;
  });
  t.match(await guess(here, used), /unknown, used or expired/, 'a nonce is one guess, of all instances');
});
