// The registry of nodes as an operator meets it: with the URL that nodes are to be told, and links that end at once.
import type { Fleet } from '../nodes/fleet.ts';
import type { NodeCode, NodeRegistry } from '../nodes/registry.ts';

export interface UrlRegistry extends Omit<NodeRegistry, 'add'> {
  add(name: string): Promise<NodeCode & { url: string }>;
}

/** `fleet` is that of the service which runs in this process, if one does. */
export function publicRegistry(registry: NodeRegistry, url: string, fleet?: Fleet): UrlRegistry {
  return {
    list: () => registry.list(),
    add: async (name) => ({ ...(await registry.add(name)), url }),
    async revoke(name) {
      const isKnown = await registry.revoke(name);
      await fleet?.find(name)?.recheck();
      return isKnown;
    },
  };
}
