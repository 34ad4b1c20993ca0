// Kysely types of the tables of webhooks.
import type { ColumnType, Generated } from 'kysely';
import type { OutboundStatus } from '#shared/api/answers.ts';
import type { DeliveryState, WebhookEvent } from '#shared/api/webhooks.ts';

type Unset<T> = ColumnType<T | null, T | null | undefined, T | null>;

export interface WebhooksTable {
  id: string;
  subscription_id: string;
  /** In the order of creation. */
  position: ColumnType<number, never, never>;
  url: string;
  events: WebhookEvent[];
  /** Whether a delivered text counts as claimed. */
  claim: boolean;
  description: string;
  enabled: ColumnType<boolean, boolean | undefined, boolean>;
  /** Set when the service disabled it. */
  disabled_reason: Unset<string>;
  /** `whsec_…`: signing needs the key itself. */
  secret: string;
  /** Signs too until `previous_until`. */
  previous_secret: Unset<string>;
  previous_until: Unset<Date>;
  created_at: Date;
  /** Grows with a new URL and when it is enabled: answers to earlier requests count no more. */
  version: ColumnType<number, undefined, number>;
  /** Failed attempts since the last success. */
  failures: ColumnType<number, undefined, number>;
  failing_since: Unset<Date>;
  last_error: Unset<string>;
  /** No attempt before this time, because several have failed. */
  paused_until: Unset<Date>;
  /** The instance that sends its deliveries until `lease_until`. */
  lease_instance: Unset<string>;
  lease_until: Unset<Date>;
}

interface WebhookDeliveriesTable {
  id: Generated<number>;
  /** Its deliveries are sent in this order. */
  place: Generated<number>;
  webhook_id: string;
  /** The same for every attempt and replay. */
  event_id: string;
  type: WebhookEvent;
  message_id: number | null;
  call_id: string | null;
  /** Status of a sent text when the event occurred; null for other events. */
  message_status: OutboundStatus | null;
  occurred_at: Date;
  state: DeliveryState;
  attempts: number;
  /** `-infinity`: due at once. */
  next_at: Date;
  last_at: Date | null;
  /** HTTP status of the last attempt. */
  status: number | null;
  error: string | null;
}

export interface WebhookTables {
  webhooks: WebhooksTable;
  webhook_deliveries: WebhookDeliveriesTable;
}
