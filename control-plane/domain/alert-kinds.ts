// The kinds of alerts, described for people: when each is raised and when it ends. The conditions themselves are in alerts/conditions.ts.

interface AlertText {
  /** `warning, critical`: it begins as a warning and can become critical. */
  severity: 'warning' | 'critical' | 'warning, critical';
  raised: string;
  over: string;
  /** Environment variables that set the thresholds. */
  options: readonly string[];
}

/** All kinds, in the order in which they are shown. */
export const ALERT_TEXTS = {
  number_down: {
    severity: 'critical',
    raised:
      'A number that a customer has paid for has no service. Its node has no link or cannot write its journal, its slot is not `registered`, its SIM is in no slot, the node has not confirmed the SIM, or probe texts to it were lost.',
    over: 'The number has service, or its subscription has ended.',
    options: ['ALERT_SLOT_DOWN_MS'],
  },
  node_offline: {
    severity: 'critical',
    raised: 'A node has no link. Revoked nodes do not count, nor do nodes that wait for approval.',
    over: 'The node is linked.',
    options: ['HEARTBEAT_MS'],
  },
  node_alarm: {
    severity: 'warning, critical',
    raised:
      'A linked node reports an alarm of the whole node: `no_modem`, `modem_given_up`, `duplicate_iccid`, `journal_unavailable`, `ports_hang`, or, as a warning, `duplicate_imei` or `disk_nearly_full`.',
    over: 'The node no longer reports the alarm.',
    options: [],
  },
  node_pending: {
    severity: 'warning, critical',
    raised:
      'A node waits for the approval of its key. Critical if it has SIMs: they have no service until then.',
    over: 'An operator has approved or revoked the node.',
    options: ['ENROLMENT_APPROVAL'],
  },
  node_claims: {
    severity: 'warning, critical',
    raised:
      'A node reports SIMs, numbers, texts or calls that belong to other nodes, or sends frames, or changes its slots, faster than any rack has to. Critical once the node takes no new SIM.',
    over: 'An hour has passed since the last such report, and an operator has approved the node if it was critical.',
    options: [],
  },
  sending_limit: {
    severity: 'warning',
    raised:
      'A number has used 80 % of what it may send in a minute or in 24 hours, or was refused for it. Carriers may block its SIM.',
    over: 'The number has stayed below 80 % for an hour.',
    options: [
      'SMS_PER_MINUTE',
      'SMS_PER_DAY',
      'SMS_RECIPIENTS_PER_DAY',
      'SMS_REPEATED_PER_DAY',
      'SMS_UNANSWERED_PER_DAY',
      'SMS_PER_ANSWER',
    ],
  },
  sim_pin: {
    severity: 'warning',
    raised:
      'A SIM stays locked, although the fleet file has its PIN: the card refused it, the result is unknown, or the service gave it to no node.',
    over: 'The SIM is open, or gone.',
    options: [],
  },
  plan_ending: {
    severity: 'warning, critical',
    raised:
      'The plan of a card ends within `ALERT_PLAN_DAYS` days, or has ended (`plan_expires` of the fleet file). Critical once it has ended and a customer has the number.',
    over: 'The fleet file has a later day.',
    options: ['ALERT_PLAN_DAYS'],
  },
  sim_moved: {
    severity: 'warning',
    raised: 'The SIM of a sold number moved to a node that had not held it in the last 30 days.',
    over: 'A day has passed, or the SIM moved again.',
    options: [],
  },
  slot_down: {
    severity: 'warning',
    raised: 'A slot that no operator took out of service is not `registered`.',
    over: 'The slot is `registered`.',
    options: ['ALERT_SLOT_DOWN_MS'],
  },
  storage_full: {
    severity: 'warning, critical',
    raised: 'A message storage is as full as the threshold. Critical when it is completely full.',
    over: 'The storage is 10 percentage points below the threshold.',
    options: ['ALERT_STORAGE_PERCENT'],
  },
  journal_growing: {
    severity: 'critical',
    raised: 'The journal of a node holds as many facts as the threshold, and grows.',
    over: 'The journal holds less than half of the threshold.',
    options: ['ALERT_JOURNAL_DEPTH'],
  },
  relayer_low: {
    severity: 'warning, critical',
    raised: 'The relayer has gas for fewer transfers than the threshold. Critical when it has gas for none.',
    over: 'The relayer has gas for a quarter more than the threshold.',
    options: ['RELAYER_TRANSFERS_MIN'],
  },
  chain_unavailable: {
    severity: 'critical',
    raised: 'The RPC of a chain has not responded for a minute, or the chain differs from the configuration.',
    over: 'Every instance gets responses.',
    options: [],
  },
  relayer_key_missing: {
    severity: 'critical',
    raised:
      'A payment has been in flight for two minutes, and an instance does not have the key of the relayer that sent it. Its transaction is sent again, but its fee cannot be raised.',
    over: 'Every instance has the key, or the payment is finished.',
    options: ['RELAYER_FORMER_KEY_FILE'],
  },
  payment_stuck: {
    severity: 'critical',
    raised: 'A payment is listed by `control-plane payment list --stuck`. A refund counts after ten minutes.',
    over: 'The payment is no longer stuck.',
    options: [],
  },
  pool_low: {
    severity: 'warning, critical',
    raised: 'Fewer numbers than the threshold are available. Critical when none is available.',
    over: 'A fifth more than the threshold is available.',
    options: ['ALERT_POOL_MIN'],
  },
} as const satisfies Record<string, AlertText>;

export type AlertKind = keyof typeof ALERT_TEXTS;
export const ALERT_KINDS = Object.keys(ALERT_TEXTS) as readonly AlertKind[];
