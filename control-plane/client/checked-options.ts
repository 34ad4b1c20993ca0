// Checks the arguments of the library's methods before any request: a wrong name or kind is a `TypeError` that says which.
import { closest } from '#shared/process/suggestion.ts';

interface Kind {
  /** Completes “must be …”. */
  words: string;
  fits: (value: unknown) => boolean;
}

/** Also one of another realm, such as a frame. */
const isDate = (value: unknown): value is Date => Object.prototype.toString.call(value) === '[object Date]';

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !isDate(value);

const hasMethods = (value: unknown, names: readonly string[]): boolean =>
  isObject(value) && names.every((name) => typeof value[name] === 'function');

const TEXT: Kind = {
  words: 'a string that is not empty',
  fits: (value) => typeof value === 'string' && value !== '',
};
const FLAG: Kind = { words: 'true or false', fits: (value) => typeof value === 'boolean' };
const AMOUNT: Kind = {
  words: 'a bigint, such as 1_800_000_000n',
  fits: (value) => typeof value === 'bigint',
};
const MILLISECONDS: Kind = {
  words: 'a number of milliseconds',
  fits: (value) => typeof value === 'number' && value >= 0,
};
const FUNCTION: Kind = { words: 'a function', fits: (value) => typeof value === 'function' };
const DATE: Kind = {
  words: 'a valid Date',
  fits: (value) => isDate(value) && !Number.isNaN(value.getTime()),
};
const LIST: Kind = { words: 'an array', fits: Array.isArray };
const OBJECT: Kind = { words: 'an object', fits: isObject };
const SIGNAL: Kind = {
  words: 'an AbortSignal',
  fits: (value) => hasMethods(value, ['addEventListener', 'throwIfAborted']),
};
const ACCOUNT: Kind = {
  words: 'an account with "address", "signMessage" and "signTypedData", such as privateKeyToAccount(key)',
  fits: (value) =>
    hasMethods(value, ['signMessage']) && typeof (value as { address?: unknown }).address === 'string',
};

interface Options {
  [name: string]: Kind;
}

const PURCHASE: Options = {
  account: ACCOUNT,
  maxAmount: AMOUNT,
  chainIds: LIST,
  assets: LIST,
  protocol: TEXT,
  resume: OBJECT,
  onSigned: FUNCTION,
  onWait: FUNCTION,
  settleTimeoutMs: MILLISECONDS,
};
const WAIT: Options = {
  timeoutMs: MILLISECONDS,
  from: TEXT,
  match: FUNCTION,
  pollMs: MILLISECONDS,
  signal: SIGNAL,
  onTrouble: FUNCTION,
};

/** The options of each method that takes some, and those that it needs. */
const METHODS = {
  'new SimrackClient': { options: { baseUrl: TEXT, token: TEXT, domain: TEXT }, needs: ['baseUrl'] },
  subscribe: { options: PURCHASE, needs: ['account', 'maxAmount'] },
  recover: { options: PURCHASE, needs: ['account'] },
  sendLong: { options: { to: TEXT, body: TEXT, transliterate: FLAG, since: DATE }, needs: ['to', 'body'] },
  waitForMessage: { options: WAIT, needs: [] },
  waitForCode: { options: WAIT, needs: [] },
  stream: { options: { onAudio: FUNCTION, onEvent: FUNCTION, signal: SIGNAL }, needs: [] },
  watchCalls: {
    options: { onEvent: FUNCTION, onState: FUNCTION, signal: SIGNAL, clock: OBJECT, random: FUNCTION },
    needs: ['onEvent'],
  },
} as const satisfies Record<string, { options: Options; needs: readonly string[] }>;

/** Throws `TypeError` unless these are options of the method, all that it needs among them. */
export function checkOptions(method: keyof typeof METHODS, given: unknown): void {
  const { options, needs }: { options: Options; needs: readonly string[] } = METHODS[method];
  const names = Object.keys(options);
  const title = method.startsWith('new ') ? `${method}({ … })` : `${method}()`;
  if (!isObject(given))
    throw new TypeError(
      `${title}: the options must be an object with ${listed(names)}, not ${described(given)}`,
    );
  for (const [name, value] of Object.entries(given)) {
    const kind = options[name];
    if (kind === undefined) throw new TypeError(`${title}: ${unknownName(name, names)}`);
    if (value !== undefined && !kind.fits(value))
      throw new TypeError(`${title}: "${name}" must be ${kind.words}, not ${described(value)}`);
  }
  for (const name of needs)
    if (given[name] === undefined)
      throw new TypeError(`${title}: "${name}" is missing: it must be ${options[name]?.words}`);
}

function unknownName(name: string, names: readonly string[]): string {
  const meant = closest(name, names);
  return `unknown option "${name}". ${
    meant === undefined ? `The options are ${listed(names)}.` : `Did you mean "${meant}"?`
  }`;
}

/** Throws `TypeError` unless the argument of a method is a string. */
export function checkText(method: string, name: string, value: unknown): void {
  if (!TEXT.fits(value))
    throw new TypeError(`${method}(): the ${name} must be ${TEXT.words}, not ${described(value)}`);
}

/** Throws `TypeError` unless the body or query of a request is an object. */
export function checkFields(method: string, value: unknown, names: readonly string[]): void {
  if (!isObject(value))
    throw new TypeError(
      `${method}(): the argument must be an object with ${listed(names)}, not ${described(value)}`,
    );
}

const listed = (names: readonly string[]): string => names.map((name) => `"${name}"`).join(', ');

/** The kind of a value, and not the value: it may be a secret. */
function described(value: unknown): string {
  if (value === undefined || value === null || value === '')
    return value === '' ? 'an empty string' : String(value);
  if (isDate(value)) return Number.isNaN(value.getTime()) ? 'an invalid Date' : 'a Date';
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'another object' : `a ${typeof value}`;
}
