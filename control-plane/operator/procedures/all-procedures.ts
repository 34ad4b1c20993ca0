// The operator API of the control plane: all procedures by name.
import type { OperatorClient } from '#shared/operator/procedure.ts';
import { COST_PROCEDURES } from './costs.ts';
import { FLEET_PROCEDURES } from './fleet.ts';
import { NODE_PROCEDURES } from './nodes.ts';
import { NUMBER_PROCEDURES } from './numbers.ts';
import { OPERATOR_PROCEDURES } from './operators.ts';
import { PAYMENT_PROCEDURES } from './payments.ts';
import { PREVIEW_PROCEDURES } from './previews.ts';
import { PROBE_PROCEDURES } from './probes.ts';
import { REFUND_PROCEDURES } from './refunds.ts';
import { SLOT_PROCEDURES } from './slots.ts';
import { SUBSCRIPTION_PROCEDURES } from './subscriptions.ts';
import { TRAFFIC_PROCEDURES } from './traffic.ts';

export const PROCEDURES = {
  ...NODE_PROCEDURES,
  ...SLOT_PROCEDURES,
  ...NUMBER_PROCEDURES,
  ...FLEET_PROCEDURES,
  ...COST_PROCEDURES,
  ...TRAFFIC_PROCEDURES,
  ...SUBSCRIPTION_PROCEDURES,
  ...PAYMENT_PROCEDURES,
  ...REFUND_PROCEDURES,
  ...PROBE_PROCEDURES,
  ...OPERATOR_PROCEDURES,
  ...PREVIEW_PROCEDURES,
};

/** An operator's access to the control plane. */
export type Operator = OperatorClient<typeof PROCEDURES>;
