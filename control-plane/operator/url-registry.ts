// The registry of nodes as an operator sees it: with the URL that the nodes are to be given.
import type { NodeCode, NodeRegistry } from '../nodes/registry.ts';

export interface UrlRegistry extends Omit<NodeRegistry, 'add'> {
  add(name: string): Promise<NodeCode & { url: string }>;
}

export const publicRegistry = (registry: NodeRegistry, url: string): UrlRegistry => ({
  list: () => registry.list(),
  add: async (name) => ({ ...(await registry.add(name)), url }),
});
