// Sessions: an operator signs in with the key, then has a cookie, until a limit, the sign-out or the operator's removal.
import type { Context } from 'koa';
import type { Clock } from '#shared/clock.ts';
import { FreshRead } from '../../bus/fresh-read.ts';
import {
  formTokenOf,
  hashSecret,
  isOperatorKey,
  isSession,
  mintSession,
  SESSION_LIFETIME_MS,
  sessionLimitsAt,
} from '../../domain/operator-key.ts';
import { Refusal } from '../../domain/refusal.ts';
import { countRefused, createAddressLimit } from '../../http/request-limit.ts';
import type { Database } from '../../store/database/database.ts';
import {
  deleteEndedSessions,
  endSession,
  keyOfHash,
  openSession,
  openSessions,
  operatorKeys,
  readSession,
  touchSession,
} from '../../store/operations/operators.ts';
import type { Site } from './site.ts';

const MINUTE_MS = 60_000;

/** Refused keys of an address. Keys have 256 random bits: no limit of all addresses is needed, which one could use up for others. */
const REFUSED_MAX = 10;

export interface ConsoleSession {
  operator: string;
  /** In every form of the session. */
  formToken: string;
  hash: Buffer;
}

export interface Sessions {
  /** Signs in with a key, and sets the cookie. Throws `Refusal`: `unauthorized`, `rate_limited`; `DatabaseUnavailable`. */
  signIn(ctx: Context, site: Site, key: string): Promise<void>;
  signOut(ctx: Context, site: Site, session: ConsoleSession): Promise<void>;
  /** The session of a request; undefined when there is none, or it is over. Throws `DatabaseUnavailable`. */
  find(ctx: Context, site: Site): Promise<ConsoleSession | undefined>;
  /** Those of `sessions` that are not over, by `keyOfHash`. */
  stillOpen(sessions: readonly ConsoleSession[]): Promise<Set<string>>;
  deleteEnded(): Promise<void>;
}

export const keyOfSession = ({ hash }: ConsoleSession): string => keyOfHash(hash);

export function createSessions({ db, clock }: { db: Database; clock: Clock }): Sessions {
  const now = (): Date => new Date(clock.now());
  const refused = createAddressLimit(clock, { name: 'console', max: REFUSED_MAX, withinMs: MINUTE_MS });
  // However many keys are tried from however many addresses, one query at a time finds out which is good.
  const keys = new FreshRead(() => operatorKeys(db));

  async function open(key: string): Promise<string> {
    const session = mintSession();
    const keyHash = hashSecret(key);
    // Only texts in the form of a key are searched for.
    const isKnown = isOperatorKey(key) && (await keys.ask()).has(keyOfHash(keyHash));
    const operator = isKnown
      ? await openSession(db, { keyHash, hash: hashSecret(session), now: now() })
      : undefined;
    if (operator === undefined)
      throw new Refusal(
        'unauthorized',
        'Unknown operator key. Run "control-plane operator add <name>" on the host of the service to create one.',
      );
    return session;
  }

  return {
    async signIn(ctx, site, key) {
      const session = await countRefused(refused, ctx.ip, () => open(key));
      setCookie(ctx, site, session, SESSION_LIFETIME_MS / 1000);
    },
    async signOut(ctx, site, { hash }) {
      await endSession(db, hash);
      setCookie(ctx, site, '', 0);
    },
    async find(ctx, site) {
      const shown = ctx.cookies.get(cookieName(site)) ?? '';
      if (!isSession(shown)) return undefined;
      const hash = hashSecret(shown);
      const found = await readSession(db, hash, sessionLimitsAt(now()));
      if (found === undefined) return undefined;
      if (clock.now() - found.usedAt.getTime() >= MINUTE_MS) await touchSession(db, hash, now());
      return { operator: found.operator, formToken: formTokenOf(shown), hash };
    },
    stillOpen: (sessions) =>
      openSessions(
        db,
        sessions.map(({ hash }) => hash),
        sessionLimitsAt(now()),
      ),
    deleteEnded: () => deleteEndedSessions(db, sessionLimitsAt(now())),
  };
}

/** With the prefix that binds it to the host where a browser grants that (RFC 6265bis §4.1.3). */
const cookieName = ({ isEncrypted }: Site): string =>
  isEncrypted ? '__Host-simrack_console' : 'simrack_console';

function setCookie(ctx: Context, site: Site, value: string, maxAgeSeconds: number): void {
  const attributes = ['Path=/', `Max-Age=${maxAgeSeconds}`, 'HttpOnly', 'SameSite=Strict'];
  if (site.isEncrypted) attributes.push('Secure');
  ctx.set('Set-Cookie', [`${cookieName(site)}=${value}`, ...attributes].join('; '));
}
