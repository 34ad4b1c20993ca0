// The plan of a seed: a few payers, numbers on sale, and the events in turn. Pure.
import { randomFrom } from '../fixtures/seeded-random.ts';

/**
 * `key`: signs with a plain key. `account`: code that behaves. `liar`: code that says yes to a simulation and burns what the
 * relayer gives it. `costly`: needs more gas than a transfer may.
 */
export type PayerKind = 'key' | 'account' | 'liar' | 'costly';

export type ProtocolName = 'x402_v1' | 'x402_v2' | 'mpp';

export interface PlannedAuthorization {
  payer: number;
  /** From the moment it is signed. */
  lifeS: number;
  /** Its nonce answers a challenge of MPP, so that it can be presented in all three protocols. */
  isForMpp: boolean;
}

/** How the RPC, or the facilitator, answers from now on. */
export type Weather =
  | { kind: 'calm' }
  /** One call in this many gets no answer; it may have had its effect. */
  | { kind: 'flaky'; oneIn: number }
  /** Each call is answered by a node that is up to this many blocks behind. */
  | { kind: 'lagging'; blocks: number }
  | { kind: 'away' }
  /** Blocks take no transaction with the old fee. */
  | { kind: 'dear' }
  /** The facilitator refuses to verify, settles nothing, breaks off, or names another transaction. */
  | { kind: 'facilitator'; mood: FacilitatorMood };

export type FacilitatorMood = 'honest' | 'refusing' | 'idle' | 'breaking' | 'lying' | 'unreachable';

export type Action =
  | { kind: 'present'; authorization: number; protocol: ProtocolName }
  | { kind: 'cancel'; authorization: number; isFirst: boolean }
  /** Another sender puts it on the chain. */
  | { kind: 'submit'; authorization: number; isFirst: boolean }
  | { kind: 'withdraw'; payer: number }
  | { kind: 'fund'; payer: number }
  | { kind: 'turncoat'; payer: number }
  | { kind: 'sign_in'; payer: number }
  /** Time in which what is under way stays so. */
  | { kind: 'seconds'; count: number }
  /** Time with the rounds of each minute. */
  | { kind: 'minutes'; count: number }
  /** Past the end of an authorization. */
  | { kind: 'expire'; authorization: number }
  | { kind: 'reorganise'; blocks: number; isLost: boolean }
  | { kind: 'evict' }
  | { kind: 'weather'; weather: Weather }
  /** Dies after this many points; a new process starts. */
  | { kind: 'kill'; points: number };

export interface Step {
  action: Action;
  /** This many calls happen before the next action. */
  turns: number;
}

export interface Plan {
  seed: number;
  submitter: 'relayer' | 'facilitator';
  /** On sale. */
  numbers: number;
  payers: readonly { kind: PayerKind; balance: number }[];
  authorizations: readonly PlannedAuthorization[];
  steps: readonly Step[];
}

/** All that are under way come to their next wait. */
const ALL_TURNS = 400;

const DAY_S = 86_400;
/** The longest that the service takes: a day and the time of a challenge. */
const LIVES_S = [300, 300, 300, 300, 290, 60, 3_600, DAY_S + 300];

/** Spreads neighboring seeds: the generator starts slowly from small ones. */
export const streamOf = (seed: number, purpose: number): ((below: number) => number) => {
  let mixed = Math.imul(seed ^ (purpose * 0x9e3779b9), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  const random = randomFrom(mixed ^ (mixed >>> 16));
  for (let turn = 0; turn < 4; turn += 1) random(2);
  return random;
};

export function planOf(seed: number): Plan {
  const random = streamOf(seed, 1);
  const pick = <T>(choices: readonly T[]): T => choices[random(choices.length)] as T;
  const payers = Array.from({ length: 1 + random(4) }, () => ({
    kind: pick<PayerKind>(['key', 'key', 'key', 'account', 'account', 'liar', 'liar', 'costly']),
    balance: pick([0, 1, 1, 2, 4, 4, 4]),
  }));
  // A stubborn payer tries again and again, with the same lifetime.
  const isStubborn = random(5) === 0;
  const authorizations = Array.from({ length: 2 + random(isStubborn ? 10 : 6) }, () => ({
    payer: isStubborn ? 0 : random(payers.length),
    lifeS: isStubborn ? 300 : pick(LIVES_S),
    isForMpp: random(2) === 0,
  }));
  const turnsOf = (): number => pick([0, 1, 2, 4, 8, 16, ALL_TURNS, ALL_TURNS, ALL_TURNS]);
  const steps = Array.from({ length: 4 + random(12) }, (): Step[] => {
    if (random(8) === 0) return mischief(random, authorizations, turnsOf);
    return [{ action: actionOf(random, payers.length, authorizations), turns: turnsOf() }];
  }).flat();
  return {
    seed,
    submitter: random(4) === 0 ? 'facilitator' : 'relayer',
    numbers: 1 + random(3),
    payers,
    authorizations,
    steps,
  };
}

/** A disturbance while a payment is under way. */
function mischief(
  random: (below: number) => number,
  authorizations: readonly PlannedAuthorization[],
  turnsOf: () => number,
): Step[] {
  const authorization = random(authorizations.length);
  const { isForMpp = false, payer = 0 } = authorizations[authorization] ?? {};
  const meanwhile: Action[] = [
    { kind: 'cancel', authorization, isFirst: true },
    { kind: 'cancel', authorization, isFirst: true },
    { kind: 'submit', authorization, isFirst: true },
    { kind: 'withdraw', payer },
    { kind: 'kill', points: 1 + random(20) },
    { kind: 'present', authorization, protocol: isForMpp ? 'mpp' : 'x402_v1' },
    { kind: 'reorganise', blocks: 1 + random(10), isLost: random(2) === 0 },
  ];
  return [
    { action: { kind: 'present', authorization, protocol: 'x402_v2' }, turns: random(14) },
    { action: meanwhile[random(meanwhile.length)] as Action, turns: turnsOf() },
  ];
}

function actionOf(
  random: (below: number) => number,
  payers: number,
  authorizations: readonly PlannedAuthorization[],
): Action {
  const pick = <T>(choices: readonly T[]): T => choices[random(choices.length)] as T;
  const authorization = random(authorizations.length);
  const payer = random(payers);
  const isFirst = random(3) > 0;
  const dice = random(100);
  if (dice < 40) {
    const isForMpp = authorizations[authorization]?.isForMpp === true;
    const protocols: ProtocolName[] = isForMpp
      ? ['x402_v1', 'x402_v2', 'mpp', 'mpp']
      : ['x402_v1', 'x402_v2'];
    return { kind: 'present', authorization, protocol: pick(protocols) };
  }
  if (dice < 45) return { kind: 'cancel', authorization, isFirst };
  if (dice < 50) return { kind: 'submit', authorization, isFirst };
  if (dice < 53) return { kind: 'withdraw', payer };
  if (dice < 55) return { kind: 'fund', payer };
  if (dice < 57) return { kind: 'turncoat', payer };
  if (dice < 60) return { kind: 'sign_in', payer };
  if (dice < 64) return { kind: 'seconds', count: pick([2, 5, 11, 31]) };
  if (dice < 73) return { kind: 'minutes', count: pick([1, 1, 2, 3]) };
  if (dice < 77) return { kind: 'expire', authorization };
  if (dice < 83) return { kind: 'reorganise', blocks: 1 + random(60), isLost: random(2) === 0 };
  if (dice < 84) return { kind: 'evict' };
  if (dice < 91) return { kind: 'weather', weather: weatherOf(random) };
  return { kind: 'kill', points: 1 + random(40) };
}

function weatherOf(random: (below: number) => number): Weather {
  const pick = <T>(choices: readonly T[]): T => choices[random(choices.length)] as T;
  const moods: FacilitatorMood[] = ['honest', 'refusing', 'idle', 'breaking', 'lying', 'unreachable'];
  return pick<Weather>([
    { kind: 'calm' },
    { kind: 'away' },
    { kind: 'dear' },
    { kind: 'flaky', oneIn: 2 + random(6) },
    { kind: 'lagging', blocks: 1 + random(30) },
    { kind: 'facilitator', mood: pick(moods) },
  ]);
}

/** One line for each step. */
export const storyOf = ({ submitter, numbers, payers, authorizations, steps }: Plan): string[] => [
  `${submitter}, ${numbers} numbers; payers ${payers.map(({ kind, balance }) => `${kind}:${balance}`).join(' ')}; ` +
    `authorizations ${authorizations.map(({ payer, lifeS }, id) => `a${id}=p${payer}/${lifeS}s`).join(' ')}`,
  ...steps.map(
    ({ action: { kind, ...rest }, turns }, step) =>
      `${step}. ${kind} ${JSON.stringify(rest)}, ${turns} turns`,
  ),
];
