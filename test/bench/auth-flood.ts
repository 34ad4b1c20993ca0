// A flood of /auth as a program of its own: wrong signatures, each over a nonce that was just issued, until the parent stops it.
import { createInterface } from 'node:readline';
import { privateKeyToAccount } from 'viem/accounts';
import { ALICE, BOB } from '../dev-stack/wallets.ts';
import { jsonPost } from '../fixtures/agents/json-post.ts';

/** This many clients wait for an answer, and ask again at once. */
const FLOODERS = 32;

const signature = await privateKeyToAccount(BOB.privateKey).signMessage({ message: 'another text' });
let isOver = false;
let attempts = 0;

const post = (url: string, body: unknown): Promise<Response> => fetch(url, jsonPost(body));

async function flood(url: string): Promise<void> {
  while (!isOver) {
    const issued = await post(`${url}/auth/nonce`, {});
    const { nonce = '0' } = (await issued.json()) as { nonce?: string };
    const answer = await post(`${url}/auth`, { wallet: ALICE.address, nonce, signature });
    await answer.arrayBuffer();
    attempts += 1;
  }
}

let flooders: Promise<void>[] = [];
report({ ready: true });
for await (const line of createInterface({ input: process.stdin })) {
  const { url } = JSON.parse(line) as { url?: string };
  isOver = url === undefined;
  if (url !== undefined) flooders = Array.from({ length: FLOODERS }, () => flood(url));
  // A round of `nonce` and `auth` that is under way ends first.
  else await Promise.all(flooders);
  report({ attempts });
  attempts = 0;
}

function report(answer: Record<string, unknown>): void {
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
