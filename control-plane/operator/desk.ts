// The operator API: on the database here, or through the service that has it. Each change is written down with its operator.
import type { Clock } from '#shared/clock.ts';
import type { NodeReach } from '../nodes/node-reach.ts';
import type { Database } from '../store/database/database.ts';
import { listAlerts } from '../store/operations/alerts.ts';
import { listAudit } from '../store/operations/audit-log.ts';
import { AuditTrail } from './audit-trail.ts';
import { auditedCall } from './audited-calls.ts';
import { type DeskAnswers, type DeskCalls, page, type Told } from './desk-answers.ts';
import { DESK_INPUTS, type DeskCall, type DeskInput, type DeskQuestion } from './desk-inputs.ts';
import { nodeDesk } from './node-desk.ts';
import { numberDesk } from './number-desk.ts';
import { operatorDesk } from './operator-desk.ts';
import { paymentDesk } from './payment-desk.ts';
import { probeDesk } from './probe-desk.ts';

/** The actor of every command: a person with a shell on the host of the service. */
export const COMMAND_LINE = 'command line';

export interface Desk {
  /** Throws `OperatorRefusal` when the state of things does not allow it. */
  ask<C extends DeskCall>(call: C, input: DeskQuestion<C>): Promise<Told<DeskAnswers[C]>>;
}

export interface DeskParts {
  db: Database;
  clock: Clock;
  nodes: NodeReach;
  /** Lets every instance forget what it remembers of a subscription. */
  subscriptionChanged(subscriptionId: string): void | Promise<void>;
  /** The operator's name in the audit log. */
  actor: string;
}

export const isDeskCall = (name: string): name is DeskCall => Object.hasOwn(DESK_INPUTS, name);

export function createDesk({ db, clock, nodes, subscriptionChanged, actor }: DeskParts): Desk {
  const now = (): Date => new Date(clock.now());
  const trail = new AuditTrail(db, now);
  const calls: DeskCalls<DeskCall> = {
    ...numberDesk({ now }),
    ...paymentDesk({ now }),
    ...nodeDesk({ now, nodes }),
    ...probeDesk({ now, nodes }),
    alerts: (query, db) => listAlerts(db, query),
    ...operatorDesk({ now }),
    auditLog: async (query, db) => page(await listAudit(db, query), query.limit, ({ id }) => id),
  };
  async function answer<C extends DeskCall>(call: C, input: DeskInput<C>): Promise<DeskAnswers[C]> {
    const audited = auditedCall(call);
    if (audited === undefined) return calls[call](input, db);
    const { how, subject, detail } = audited;
    const asked = { actor, action: call, subject: subject(input), detail: detail?.(input) ?? {} };
    return trail[how](asked, (db) => calls[call](input, db));
  }
  return {
    async ask(call, input) {
      const parsed = DESK_INPUTS[call].parse(input) as DeskInput<typeof call>;
      const answered = await answer(call, parsed);
      if (call === 'revokeNode') await nodes.recheck((parsed as DeskInput<'revokeNode'>).node);
      if (call === 'endSubscription') await subscriptionChanged((parsed as DeskInput<'endSubscription'>).id);
      return told(answered);
    },
  };
}

/** The same form here as over the socket. */
const told = <T>(value: T): Told<T> =>
  JSON.parse(
    JSON.stringify(value, (_key, part: unknown) => (typeof part === 'bigint' ? String(part) : part)),
  ) as Told<T>;
