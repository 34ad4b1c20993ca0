// The filters of a list as the store takes them.
import { carriersNamed } from '#shared/carriers/carrier-name.ts';

interface Filters {
  carrier?: string | undefined;
  since?: string | undefined;
  until?: string | undefined;
}

/** All other filters stay as they are. */
export const storeQuery = <Query extends Filters>({ carrier, since, until, ...others }: Query) => ({
  ...others,
  carriers: carrier === undefined ? undefined : carriersNamed(carrier),
  since: since === undefined ? undefined : new Date(since),
  until: until === undefined ? undefined : new Date(until),
});
