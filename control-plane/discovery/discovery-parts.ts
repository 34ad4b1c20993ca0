// The facts that the published files of a service contain.
import type { Sale } from '../payments/offer.ts';

export interface DiscoveryParts {
  /** Absolute, without a trailing slash. */
  baseUrl: string;
  serviceName: string;
  sale: Sale;
  /** A mailto: or https: URL for reports of vulnerabilities. Undefined: there is no security.txt. */
  securityContact: string | undefined;
}
