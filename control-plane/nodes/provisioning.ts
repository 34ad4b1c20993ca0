// Binds subscriptions to the node that holds their SIM, and settles what a node alone knows.
import { randomUUID } from 'node:crypto';
import type { Clock } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import type { Bus } from '../bus/bus.ts';
import type { Database } from '../store/database.ts';
import { findUnsettled, settleOutcome, setUnsettled, type UnsettledSend } from '../store/messages.ts';
import { locateNumber } from '../store/sims.ts';
import { findUnbound, setBound } from '../store/subscriptions.ts';
import type { Fleet, NodeLink } from './fleet.ts';
import { CommandRefused } from './pending-commands.ts';

const COMMAND_TIMEOUT_MS = 5_000;

/** Nodes keep outcomes for a week: within a day a node that knows nothing of a command never had it. */
const OUTCOME_MEMORY_MS = 24 * 60 * 60 * 1000;

export interface ProvisioningParts {
  db: Database;
  bus: Bus;
  fleet: Fleet;
  clock: Clock;
  log: Logger;
}

/** Asks the node to confirm each SIM that a subscription waits for. */
export async function bindPending(parts: ProvisioningParts, link: NodeLink): Promise<void> {
  for (const { id, iccid } of await findUnbound(parts.db, link.nodeId)) {
    try {
      await link.command(
        'bind_sim',
        { iccid },
        { id: `bind_${randomUUID()}`, timeLeftMs: COMMAND_TIMEOUT_MS, timeoutMs: COMMAND_TIMEOUT_MS },
      );
      await setBound(parts.db, id, new Date(parts.clock.now()));
      parts.bus.publish({ kind: 'subscription_changed', subscriptionId: id });
    } catch (error) {
      parts.log.warn({ err: error, subscription: id }, 'a subscription stays unbound');
    }
  }
}

/** Binds the number of a new subscription, if its node has a link to this instance. */
export async function bindNumber(parts: ProvisioningParts, number: string): Promise<void> {
  const place = await locateNumber(parts.db, number);
  const link = place && parts.fleet.find(place.nodeId);
  if (link !== undefined) await bindPending(parts, link);
}

/**
 * Asks a node that came back what became of sends that were open when its link, or this process, ended.
 * A command that it never saw is not sent late: it failed.
 */
export async function settleOpenSends(parts: ProvisioningParts, link: NodeLink, now: Date): Promise<void> {
  const span = { after: new Date(now.getTime() - OUTCOME_MEMORY_MS), before: now };
  // Many may stay unknown for good: those behind them have their turn all the same.
  for (let id = 0; ; ) {
    const open = await findUnsettled(parts.db, link.nodeId, { id, ...span });
    const last = open.at(-1);
    if (last === undefined) return;
    const answers = await Promise.all(open.map((send) => settleOpenSend(parts, link, send)));
    if (!answers.includes(true)) return;
    id = last.id;
  }
}

/** False when the node did not answer. */
async function settleOpenSend(
  parts: ProvisioningParts,
  link: NodeLink,
  open: UnsettledSend,
): Promise<boolean> {
  try {
    const outcome = await link.command(
      'send_sms',
      { iccid: open.iccid, to: open.to, body: open.body, segments_max: 255 },
      { id: open.commandId, timeLeftMs: 0, timeoutMs: COMMAND_TIMEOUT_MS },
    );
    await settleOutcome(parts.db, open.commandId, outcome);
    return true;
  } catch (error) {
    if (error instanceof CommandRefused) {
      await setUnsettled(parts.db, open.commandId, { status: 'failed' });
      return true;
    }
    // One that the modem still has is told by its fact.
    parts.log.debug({ err: error, command: open.commandId }, 'a send stays open');
    return false;
  }
}
