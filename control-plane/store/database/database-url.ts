// URLs of Postgres that name several servers, as libpq takes them. The driver takes one server only.

const SHAPE = /^(postgres(?:ql)?:\/\/(?:[^@/?#]*@)?)([^@/?#]*)(.*)$/is;
const SERVERS_MAX = 8;
const TARGET = 'target_session_attrs';

/** The service writes: it can use no other server. */
const TARGETS = ['read-write', 'primary'];

/** Why `url` is not the URL of a database; undefined if it is one. */
export function problemOfDatabaseUrl(url: string): string | undefined {
  const urls = serverUrls(url);
  const isUrl = (one: string): boolean => URL.canParse(one) && /^postgres(ql)?:$/.test(new URL(one).protocol);
  if (!urls.every(isUrl) || /[?&]host=[^&]*,/.test(url))
    return 'must be a postgres:// URL, with commas between several host:port';
  if (urls.length > SERVERS_MAX) return `must name at most ${SERVERS_MAX} servers`;
  const target = targetOf(url);
  if (target !== null && !TARGETS.includes(target)) return `${TARGET} must be ${TARGETS.join(' or ')}`;
  return undefined;
}

/** A URL for each server that `url` names, in its order. */
export function serverUrls(url: string): string[] {
  const [, before = '', servers = '', after = ''] = SHAPE.exec(url) ?? [];
  if (before === '') return [url];
  return servers.split(',').map((server) => `${before}${server}${withoutTarget(after)}`);
}

const queryOf = (url: string): URLSearchParams => new URLSearchParams(/\?([^#]*)/.exec(url)?.[1] ?? '');
const targetOf = (url: string): string | null => queryOf(url).get(TARGET);

/** The other parameters stay as they were written. */
function withoutTarget(after: string): string {
  const [path = '', ...queries] = after.split('?');
  const kept = queries
    .join('?')
    .split('&')
    .filter((parameter) => parameter !== '' && !parameter.startsWith(`${TARGET}=`));
  return kept.length === 0 ? path : `${path}?${kept.join('&')}`;
}

/** Servers and database of `url`, without user and password. A `host` in the query, such as the folder of a socket, is the server. */
export function shownDatabase(url: string): string {
  const [, , servers = '', after = ''] = SHAPE.exec(url) ?? [];
  return `${queryOf(url).get('host') ?? servers}${after.replace(/[?#].*$/s, '')}`;
}
