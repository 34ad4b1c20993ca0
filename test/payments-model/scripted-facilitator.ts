// A facilitator at the other end of `fetch`, with a mood: honest, or one of those that a service must bear.
import { type Hex, toHex } from 'viem';
import type { World } from './chain-client.ts';
import type { FacilitatorMood } from './plan.ts';
import type { Life } from './turns.ts';

const HOST_PATTERN = /^http:\/\/facilitator-(\d+)\.invalid\/(verify|settle)$/;

const facilitators = new Map<number, { world: World; life: Life }>();
let count = 0;

/** The URL at which the service of this life reaches the facilitator of its world. */
export function scriptedFacilitator(world: World, life: Life): string {
  installOnce();
  count += 1;
  facilitators.set(count, { world, life });
  return `http://facilitator-${count}.invalid`;
}

/** After a sequence none is needed. */
export function forgetFacilitators(world: World): void {
  for (const [id, facilitator] of facilitators) if (facilitator.world === world) facilitators.delete(id);
}

let isInstalled = false;

function installOnce(): void {
  if (isInstalled) return;
  isInstalled = true;
  const real = globalThis.fetch;
  globalThis.fetch = (async (input: string, init: { body: string }) => {
    const [, id, path] = HOST_PATTERN.exec(String(input)) ?? [];
    if (id === undefined) return real(input, init);
    const facilitator = facilitators.get(Number(id));
    if (facilitator === undefined) return new Promise(() => undefined);
    const { life, world } = facilitator;
    const { paymentPayload } = JSON.parse(init.body) as {
      paymentPayload: { payload: { authorization: { nonce: Hex } } };
    };
    const { nonce } = paymentPayload.payload.authorization;
    return world.turns.call(life, `facilitator.${path}`, () =>
      answer(world, path as 'verify' | 'settle', nonce),
    );
  }) as typeof fetch;
}

function answer(world: World, path: 'verify' | 'settle', nonce: Hex): { status: number; body: Buffer[] } {
  const authorization = world.authorizations.get(nonce);
  if (authorization === undefined) throw new Error('an unsigned authorization');
  const mood = moodOf(world);
  const json = (body: unknown, status = 200) => ({ status, body: [Buffer.from(JSON.stringify(body))] });
  if (mood === 'unreachable') throw failed('ECONNREFUSED');
  world.noteSent(authorization);
  world.noteShown(authorization);
  if (path === 'verify') {
    if (mood === 'breaking') throw failed('ECONNRESET');
    return mood === 'refusing' ? json({ isValid: false, invalidReason: 'no' }, 400) : json({ isValid: true });
  }
  const { chain, random } = world;
  if (mood === 'idle' || mood === 'refusing') return json({ success: false, errorReason: 'not now' });
  const hash = toHex(
    0xfac0_0000 + chain.mined.length + chain.pending.length * 256 + random(2 ** 20) * 65_536,
    { size: 32 },
  );
  if (mood !== 'lying' || random(2) === 0) {
    const gas = { gasLimit: 200_000n, fee: chain.fee, isFirst: false, nonce: undefined };
    chain.add({ hash, kind: 'transfer', authorization, sender: 'facilitator', ...gas });
  }
  if (mood === 'breaking') throw failed('ECONNRESET');
  if (random(3) > 0) chain.mine(false);
  const named =
    mood === 'lying'
      ? (chain.mined[random(Math.max(1, chain.mined.length))]?.hash ?? toHex(1, { size: 32 }))
      : hash;
  return json({ success: true, transaction: named });
}

function moodOf({ weather }: World): FacilitatorMood {
  return weather.kind === 'facilitator' ? weather.mood : 'honest';
}

const failed = (code: string): Error =>
  new TypeError('fetch failed', { cause: Object.assign(new Error(code), { code }) });
