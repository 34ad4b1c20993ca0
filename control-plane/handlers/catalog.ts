// GET /: what the service is, and where it is described.
import type { AnswerOf, OPERATION } from '#shared/api/operations.ts';

export interface CatalogParts {
  /** Absolute, without a slash at its end. */
  baseUrl: string;
  serviceName: string;
  /** "production", or what the operator calls it. */
  environment: string;
}

/** Files for programs that look for them, by name. */
export const WELL_KNOWN: Readonly<Record<string, string>> = {};

export function catalog({
  baseUrl,
  environment,
  serviceName,
}: CatalogParts): AnswerOf<typeof OPERATION.catalog> {
  return {
    name: serviceName,
    description:
      'A real US mobile number for a year: paid by one HTTP request with a wallet, recovered by its signature, for SMS and voice.',
    env: environment,
    mcp: `${baseUrl}/mcp`,
    openapi: `${baseUrl}/openapi.json`,
    well_known: Object.fromEntries(Object.entries(WELL_KNOWN).map(([name, path]) => [name, baseUrl + path])),
    status: 'ok',
  };
}
