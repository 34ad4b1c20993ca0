// The facts about a service that its published files are written from.
import type { Sale } from '../payments/offer.ts';

export interface DiscoveryParts {
  /** Absolute, without a slash at its end. */
  baseUrl: string;
  serviceName: string;
  sale: Sale;
  /** A mailto: or https: URL for reports of flaws. Undefined: there is no security.txt. */
  securityContact: string | undefined;
}
