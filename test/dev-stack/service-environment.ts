// `control-plane.env`: the settings of the service of `npm start`, for operator commands that need them.
import { writeFileSync } from 'node:fs';
import { OPTIONS } from '#control-plane/config/config.ts';

/** Writes the service's options, from `own` and the environment of `npm start`, and the refund key as lines of shell. */
export function writeServiceEnvironment(path: string, own: Readonly<Record<string, string>>): void {
  const known = new Set(Object.values(OPTIONS).map(({ env }) => env));
  const inherited = Object.entries(process.env).filter(([name]) => known.has(name));
  const settings = Object.entries({ ...Object.fromEntries(inherited), ...own });
  const lines = settings.map(([name, value = '']) => `${name}='${value.replaceAll("'", `'\\''`)}'\n`);
  writeFileSync(path, lines.join(''), { mode: 0o600 });
}
