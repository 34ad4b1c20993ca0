// The alerts that are open now, and whether their messages reached the operator.

import { ALERT_CHANNELS } from '../domain/alert.ts';
import { ALERT_KINDS } from '../domain/alert-kinds.ts';
import type { Instruments, Listeners } from './instruments.ts';

export function alertMetrics(make: Instruments): Listeners {
  const open = make.gauge('alerts', 'Open alerts at the last check (every 10 s)', ['kind']);
  const messages = make.counter(
    'alert_messages',
    'Attempts to send an alert message, by outcome: sent, refused, unavailable, unknown, gone',
    ['channel', 'outcome'],
  );
  for (const kind of ALERT_KINDS) open.set({ kind }, 0);
  for (const channel of ALERT_CHANNELS) messages.inc({ channel, outcome: 'sent' }, 0);
  return {
    alerts_checked({ open: kinds }) {
      for (const kind of ALERT_KINDS) open.set({ kind }, kinds.filter((each) => each === kind).length);
    },
    alerts_sent: ({ channel, outcome }) => messages.inc({ channel, outcome }),
  };
}
