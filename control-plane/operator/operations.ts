// The operations of a running service: the operator API, requests to nodes wherever they are linked, and probes.
import type { Destinations } from '#shared/destination-list.ts';
import type { Random } from '#shared/random.ts';
import type { Base } from '../bus/base.ts';
import type { SendingLimits } from '../domain/sending-limits.ts';
import { repeat } from '../housekeeping/repeat.ts';
import type { Fleet } from '../nodes/fleet.ts';
import { restartModem } from '../nodes/modem-restart.ts';
import { ProbeReceipts } from '../probes/probe-text.ts';
import { Prober } from '../probes/prober.ts';
import type { Pins } from '../store/cards/fleet-apply.ts';
import type { LiveCalls } from '../voice/live-calls.ts';
import { createOperatorApi } from './operator-api.ts';
import type { Operator } from './procedures/all-procedures.ts';
import type { NodeOperations } from './procedures/procedure.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** A round begins at most this much late; without rounds there is only little to tidy up. */
const PROBE_CHECK_MS = 10_000;

interface OperationsParts extends Base, SendingLimits {
  random: Random;
  fleet: Fleet;
  live: LiveCalls;
  sendTimeoutMs: number;
  /** Base URL that nodes are given. */
  url: string;
  pins: Pins;
  probeMinutes: number | undefined;
  probeCalls: boolean;
  probeTimeoutMs: number;
  probeSoldHours: number | undefined;
  destinations: Destinations;
}

export interface Operations {
  /** The operator API in the name of `actor`, which the audit log records. */
  operatorFor(actor: string): Operator;
  stop(): Promise<void>;
}

export function createOperations(parts: OperationsParts): Operations {
  const { db, bus, clock, log, fleet, probeMinutes, probeSoldHours } = parts;
  const prober = new Prober({
    ...parts,
    receipts: new ProbeReceipts(bus, clock),
    withCalls: parts.probeCalls,
    timeoutMs: parts.probeTimeoutMs,
    periodMs: probeMinutes && probeMinutes * MINUTE_MS,
    soldPeriodMs: probeSoldHours && probeSoldHours * HOUR_MS,
    limits: parts,
  });
  const nodes: NodeOperations = {
    restartModem: (node, slot, force) => restartModem(fleet.reach(node), slot, force),
    sendTest: (from, to) => prober.test(from, to),
    async recheck(node) {
      bus.publish({ kind: 'node_identity_changed', nodeId: node });
      await fleet.find(node)?.recheck();
    },
  };
  const subscriptionChanged = (subscriptionId: string): void =>
    bus.publish({ kind: 'subscription_changed', subscriptionId });
  const acted = (): void => bus.publish({ kind: 'operator_acted' });
  const probing = repeat(
    { clock, log, task: 'probes', everyMs: probeMinutes === undefined ? MINUTE_MS : PROBE_CHECK_MS },
    () => prober.check(),
  );
  return {
    operatorFor: (actor) =>
      createOperatorApi({
        db,
        clock,
        nodes,
        url: parts.url,
        pins: parts.pins,
        subscriptionChanged,
        acted,
        actor,
      }),
    async stop() {
      await prober.stop();
      await probing.stop();
    },
  };
}
