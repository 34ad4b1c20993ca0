// Work that repeats each minute: payments, gas, alerts, mail to the waitlist, deletion of old data.
import type { AlertChannel } from '../alerts/alert-channel.ts';
import { startAlerts } from '../alerts/alert-service.ts';
import type { MailSettings } from '../config/mail-options.ts';
import { repeat } from '../housekeeping/repeat.ts';
import { WaitlistMailer } from '../mail/waitlist-mailer.ts';
import type { Task } from '../metrics/metric-events.ts';
import type { ServiceMetrics } from '../metrics/service-metrics.ts';
import { GasWatch } from '../payments/gas-watch.ts';
import { relayersOf, walletsOf } from '../payments/settlement-networks.ts';
import { storeMonth } from '../store/cards/sim-costs.ts';
import { deleteExpiredProofs } from '../store/fleet/nodes.ts';
import { notePool } from '../store/fleet/pool-openings.ts';
import { deleteOldTenures } from '../store/fleet/sim-tenures.ts';
import { deleteOldWaitingFacts } from '../store/fleet/waiting-facts.ts';
import { purgeOldMessages } from '../store/messages/message-deletion.ts';
import { deleteOldSends } from '../store/messages/sending.ts';
import { deleteOldSentTexts } from '../store/messages/sent-texts.ts';
import { deleteOldMailed } from '../store/messages/waitlist.ts';
import { deleteExpiredNonces } from '../store/money/credentials.ts';
import { purgeLapsed } from '../store/money/purge.ts';
import { pruneDeliveries } from '../store/webhooks/webhook-deliveries.ts';
import type { Sales } from './sales.ts';
import type { ServiceBase } from './store.ts';
import type { Telephony } from './telephony.ts';

const ROUND_MS = 60_000;
/** A change in the last minutes of a month may be missing from it. */
const COSTS_MS = 10 * 60_000;
const DAY_MS = 24 * 60 * 60 * 1000;

interface RoundParts {
  sales: Sales;
  telephony: Telephony;
  metrics: ServiceMetrics;
  channels: readonly AlertChannel[];
  mail: MailSettings | undefined;
}

interface Round {
  stop(): Promise<void>;
}

/** Each round is independent: an RPC that hangs delays only its own payments. */
export function startRounds(base: ServiceBase, parts: RoundParts): Round {
  const { clock, log } = base;
  const everyMinute = (task: Task, work: () => Promise<void>): Round =>
    repeat({ clock, log, task, everyMs: ROUND_MS }, work);
  const mailer = mailerOf(base, parts.mail);
  const { networks } = parts.sales;
  const payments = paymentRounds(base, parts, everyMinute);
  networks.watch();
  const money = moneyWatch(base, parts, everyMinute);
  const rounds = [
    ...payments,
    ...money,
    everyMinute('waitlist', () => waitlistRound(base, mailer)),
    repeat({ clock, log, task: 'costs', everyMs: COSTS_MS, firstMs: ROUND_MS }, () =>
      storeMonth(base.db, new Date(clock.now())),
    ),
    repeat({ clock, log, task: 'cleaning', everyMs: ROUND_MS, firstMs: ROUND_MS }, () =>
      cleaningRound(base, parts.telephony),
    ),
  ];
  return {
    async stop() {
      networks.stop();
      const stopped = Promise.all(rounds.map((round) => round.stop()));
      await Promise.all([stopped, mailer?.stop(stopped)]);
    },
  };
}

type EveryMinute = (task: Task, work: () => Promise<void>) => Round;

/** Only for open networks: the data of a chain that does not match the configuration must not end a payment. */
function paymentRounds(
  { bus }: ServiceBase,
  { sales, telephony }: RoundParts,
  everyMinute: EveryMinute,
): Round[] {
  const { networks, settlementNetworks } = sales;
  return [...settlementNetworks].flatMap(([chainId, { settlement, finality }]) => [
    everyMinute('reconcile', async () => {
      if (!networks.isOpen(chainId)) return;
      await settlement.reconcile(({ subscription }) => {
        bus.publish({ kind: 'subscription_changed', subscriptionId: subscription.id });
        void telephony.provision(subscription.number);
      });
    }),
    everyMinute('finality', async () => {
      if (networks.isOpen(chainId)) await finality.round();
    }),
  ]);
}

/** Alerts, and the gas balances that some of them need. */
function moneyWatch(
  { config, db, clock, log }: ServiceBase,
  { sales, metrics, channels }: RoundParts,
  everyMinute: EveryMinute,
): Round[] {
  const { networks } = sales;
  const wallets = walletsOf(sales.settlementNetworks);
  const alerts = startAlerts({
    db,
    clock,
    log,
    channels,
    relayers: relayersOf(sales.settlementNetworks),
    thresholds: config,
    closedChains: () => networks.closed(),
  });
  const gasWatch = new GasWatch({
    wallets: new Map([...wallets].map(([chainId, { present }]) => [chainId, present])),
    transfersMin: config.relayerTransfersMin,
    log,
    isOpen: (chainId) => networks.isOpen(chainId),
    onFunds: (chainId, funds) => {
      metrics.relayerFunds(chainId, funds);
      alerts.onFunds(chainId, funds);
    },
  });
  return [alerts, everyMinute('gas', () => gasWatch.check())];
}

const mailerOf = (
  { config, db, clock, log, url }: ServiceBase,
  mail: MailSettings | undefined,
): WaitlistMailer | undefined =>
  mail && new WaitlistMailer({ ...mail, db, clock, log, serviceName: config.serviceName, baseUrl: url });

async function waitlistRound(
  { db, clock, log }: ServiceBase,
  mailer: WaitlistMailer | undefined,
): Promise<void> {
  const { hasOpened, opening } = await notePool(db, new Date(clock.now()));
  if (hasOpened) log.info({ opening }, 'numbers are available again');
  await mailer?.round();
  await deleteOldMailed(db, new Date(clock.now()));
}

async function cleaningRound(
  { config, db, bus, clock, log }: ServiceBase,
  { live }: Telephony,
): Promise<void> {
  await live.endForgotten();
  const now = new Date(clock.now());
  await deleteExpiredNonces(db, now);
  await deleteExpiredProofs(db, now);
  await deleteOldTenures(db, now);
  await deleteOldWaitingFacts(db, now);
  await deleteOldSends(db, now);
  await deleteOldSentTexts(db, now);
  await pruneDeliveries(db, now);
  if (config.messageDays !== undefined) {
    const messages = await purgeOldMessages(db, { keepMs: config.messageDays * DAY_MS, now });
    if (messages > 0) log.info({ messages }, 'deleted old messages');
  }
  const graceMs = config.graceDays * DAY_MS;
  const quarantineMs = config.quarantineDays * DAY_MS;
  for (const subscriptionId of await purgeLapsed(db, { graceMs, quarantineMs, now })) {
    bus.publish({ kind: 'subscription_changed', subscriptionId });
    log.info({ subscription: subscriptionId }, 'purged a subscription');
  }
}
