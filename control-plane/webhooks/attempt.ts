// One attempt to deliver, and what follows from it: the text is claimed, the delivery waits or fails, the webhook is paused or disabled.
import type { Random } from '#shared/random.ts';
import type { Base } from '../bus/base.ts';
import { FAILING_MS_MAX, pauseMs, RETRY_WAITS_MS, retryWaitMs } from '../domain/webhook-schedule.ts';
import { emitMetric } from '../metrics/metric-events.ts';
import {
  claimDelivered,
  disableWebhook,
  pauseWebhook,
  type QueuedDelivery,
  recordDelivered,
  recordFailed,
} from '../store/webhooks/webhook-queue.ts';
import { bodyOf, type Renderings } from './event-body.ts';
import type { Poster, PostResult } from './poster.ts';

export interface AttemptParts extends Pick<Base, 'db' | 'clock' | 'log'> {
  poster: Poster;
  random: Random;
  renderings: Renderings;
  /** Aborted when the instance ends its open requests. */
  aborting: AbortSignal;
}

/** Sends the delivery once, and records the result. One that the stop of the service ended does not count. */
export async function attemptDelivery(
  parts: AttemptParts,
  delivery: QueuedDelivery,
): Promise<PostResult | undefined> {
  const { aborting, clock, poster, renderings } = parts;
  const { eventId: id, target } = delivery;
  const content = bodyOf(delivery, renderings);
  // Its text was deleted at this moment, and the delivery with it.
  if (content === undefined) return undefined;
  const result = await poster.post({ ...target, id, body: JSON.stringify(content) }, aborting);
  if (result.outcome === 'stopped') return result;
  const seconds = Math.max(0, clock.now() - delivery.occurredAt.getTime()) / 1000;
  emitMetric({ kind: 'webhook_tried', outcome: result.outcome, seconds, isFirst: delivery.attempts === 0 });
  if (result.outcome === 'delivered') await succeed(parts, delivery, result);
  else await fail(parts, delivery, result);
  return result;
}

async function succeed(
  { clock, db }: AttemptParts,
  { claim, id, isFailing, text, type, version, webhookId }: QueuedDelivery,
  { status }: PostResult,
): Promise<void> {
  const now = new Date(clock.now());
  // First: after a crash in between, the event is sent again, and the text is claimed all the same.
  const webhook = { id: webhookId, version };
  if (
    claim &&
    type === 'sms.received' &&
    text !== undefined &&
    (await claimDelivered(db, text.id, webhook, now))
  )
    emitMetric({
      kind: 'sms_claimed',
      seconds: Math.max(0, now.getTime() - text.created_at.getTime()) / 1000,
    });
  await recordDelivered(db, { id, isFailing, webhookId, version, now, status });
}

async function fail(
  { clock, db, log, random }: AttemptParts,
  { attempts, id, version, webhookId }: QueuedDelivery,
  { error, outcome, retryAfterMs, status }: PostResult,
): Promise<void> {
  const nowMs = clock.now();
  const now = new Date(nowMs);
  const waitMs = outcome === 'gone' ? undefined : retryWaitMs(attempts + 1, retryAfterMs, random());
  const retryAt = waitMs === undefined ? null : new Date(nowMs + waitMs);
  const failed = { id, webhookId, version, now, status, error: error ?? 'failed', retryAt };
  const recorded = await recordFailed(db, failed);
  // The holder changed it while the request was open: the next attempt is for what it is now.
  if (recorded === undefined) return;
  const { failures, failingSince } = recorded;
  const webhook = { id: webhookId, version };
  const about = { webhook: webhookId, outcome, status };
  const isDead = failures > RETRY_WAITS_MS.length && nowMs - failingSince.getTime() >= FAILING_MS_MAX;
  if (outcome === 'gone' || isDead) {
    const reason =
      outcome === 'gone'
        ? 'The receiver answered 410 Gone.'
        : `Every attempt failed for three days: ${error}.`;
    const advice = 'Enable the webhook again when the receiver works.';
    if (!(await disableWebhook(db, webhook, `${reason} ${advice}`))) return;
    emitMetric({ kind: 'webhook_disabled' });
    log.info(about, 'webhook disabled');
    return;
  }
  const pause = pauseMs(failures);
  if (pause > 0) await pauseWebhook(db, webhook, new Date(nowMs + pause));
  log.debug({ ...about, failures }, 'webhook not delivered');
}
