// The parameters of a request, checked: an unknown one is refused by name, since without it something else would happen.
import type { TwilioMethod } from '../bridge/twilio-request.ts';
import { invalid } from './refusal.ts';

export class Fields {
  readonly #values: URLSearchParams;

  /** Throws `TwilioRefusal` 20001 for a parameter that is neither known nor in `skipped`. */
  constructor(values: URLSearchParams, known: readonly string[], skipped: ReadonlySet<string> = new Set()) {
    for (const name of values.keys())
      if (!known.includes(name) && !skipped.has(name))
        throw invalid(
          20_001,
          `The parameter ${name} is not known here. To go on without it, add --skip ${name}.`,
        );
    this.#values = values;
  }

  /** Undefined if it is absent or empty. */
  get(name: string): string | undefined {
    return this.#values.get(name) || undefined;
  }

  all(name: string): string[] {
    return this.#values.getAll(name);
  }

  /** The URL of an app. Throws `TwilioRefusal` with `code`. */
  url(name: string, code: number): string | undefined {
    const url = this.get(name);
    if (url === undefined) return undefined;
    if (!isAppUrl(url))
      throw invalid(code, `${name} must be an http or https URL without a user name: ${url}`);
    return url;
  }

  method(name: string): TwilioMethod {
    const method = this.get(name)?.toUpperCase() ?? 'POST';
    if (method !== 'GET' && method !== 'POST') throw invalid(20_001, `${name} must be GET or POST`);
    return method;
  }

  whole(name: string, { min, max }: { min: number; max: number }): number | undefined {
    const text = this.get(name);
    if (text === undefined) return undefined;
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (!(value >= min && value <= max)) throw invalid(20_001, `${name} must be from ${min} to ${max}`);
    return value;
  }
}

const URL_CHARACTERS_MAX = 4_000;

/** Whether an app can be asked there. */
export function isAppUrl(url: string): boolean {
  if (url.length > URL_CHARACTERS_MAX || !URL.canParse(url)) return false;
  const { protocol, username, password } = new URL(url);
  return (protocol === 'http:' || protocol === 'https:') && username === '' && password === '';
}
