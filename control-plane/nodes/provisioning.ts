// Binds subscriptions to the node that holds their SIM.
import { randomUUID } from 'node:crypto';
import type { Base } from '../bus/base.ts';
import { findUnbound, locateNumber, setBound } from '../store/fleet/sims.ts';
import type { Fleet } from './fleet.ts';
import type { CommandLink } from './node-link.ts';

const COMMAND_TIMEOUT_MS = 5_000;

export interface ProvisioningParts extends Base {
  fleet: Fleet;
}

/** Asks the node to confirm each SIM that a subscription waits for. */
export async function bindPending(parts: ProvisioningParts, link: CommandLink): Promise<void> {
  for (const unbound of await findUnbound(parts.db, link.nodeId)) {
    try {
      await link.command(
        'bind_sim',
        { iccid: unbound.iccid },
        { id: `bind_${randomUUID()}`, timeLeftMs: COMMAND_TIMEOUT_MS, timeoutMs: COMMAND_TIMEOUT_MS },
      );
      await setBound(parts.db, link.nodeId, unbound);
      parts.bus.publish({ kind: 'node_changed', nodeId: link.nodeId, mayHaveReleased: false });
    } catch (error) {
      parts.log.warn({ err: error, subscription: unbound.subscriptionId }, 'a subscription stays unbound');
    }
  }
}

/** Binds the number of a new subscription, if its node has a link now. */
export async function bindNumber(parts: ProvisioningParts, number: string): Promise<void> {
  const place = await locateNumber(parts.db, number);
  if (place !== undefined) await bindPending(parts, parts.fleet.reach(place.nodeId));
}
