// Checks everything periodically, and records problems and recoveries once, however many instances check.
import type { Logger } from '#shared/log.ts';
import type { Base } from '../bus/base.ts';
import { type AlertRule, alertKey, type OpenAlert } from '../domain/alert.ts';
import { emitMetric } from '../metrics/metric-events.ts';
import { forgetAlerts, lockOpenAlerts, saveAlerts } from '../store/operations/alerts.ts';
import { type ClosedChain, readSnapshot } from '../store/operations/fleet-snapshot.ts';
import { afterCheck } from './alert-state.ts';
import { type AlertThresholds, findTroubles, rulesOf } from './conditions.ts';

interface AlertWatchParts extends Pick<Base, 'db' | 'clock' | 'log'> {
  thresholds: AlertThresholds;
  /** By chain, transfers that the relayer has gas for, as this instance last read it. */
  gas: () => ReadonlyMap<number, number | undefined>;
  closedChains: () => readonly ClosedChain[];
  /** Addresses of this instance's relayers in lower case, by chain. */
  relayers: ReadonlyMap<number, readonly string[]>;
}

/** Runs one check. Rejects if the database does not respond; then nothing was recorded. */
export async function checkForTroubles({
  db,
  clock,
  log,
  thresholds,
  ...chains
}: AlertWatchParts): Promise<void> {
  const now = new Date(clock.now());
  const { before, after } = await db.transaction().execute(async (trx) => {
    const before = new Map((await lockOpenAlerts(trx)).map((alert) => [alertKey(alert), alert]));
    const findings = findTroubles(
      {
        ...(await readSnapshot(trx, now, { planDays: thresholds.alertPlanDays })),
        gas: chains.gas(),
        closedChains: chains.closedChains(),
        relayers: chains.relayers,
      },
      thresholds,
      (about) => before.get(alertKey(about))?.raisedAt != null,
    );
    const found = new Map(findings.troubles.map((trouble) => [alertKey(trouble), trouble]));
    // A newer instance knows more kinds.
    const rules: Partial<Record<string, AlertRule>> = rulesOf(thresholds);
    const after: OpenAlert[] = [];
    const gone: string[] = [];
    for (const key of new Set([...before.keys(), ...found.keys()])) {
      const alert = before.get(key);
      const trouble = found.get(key);
      const about = alert ?? trouble;
      if (about === undefined) continue;
      const rule = rules[about.kind];
      if (rule === undefined) continue;
      const isKnown = findings.isKnown(about);
      const next = afterCheck(alert, trouble, { isKnown, rule, now });
      if (next !== undefined) after.push(next);
      else if (alert !== undefined) gone.push(alert.id);
    }
    await saveAlerts(trx, after);
    await forgetAlerts(trx, gone, now);
    return { before, after };
  });
  for (const alert of after) logChange(alert, before.get(alertKey(alert)), log);
  const open = after.filter(({ raisedAt, recoveredAt }) => raisedAt !== null && recoveredAt === null);
  emitMetric({ kind: 'alerts_checked', open: open.map(({ kind }) => kind) });
}

function logChange(alert: OpenAlert, before: OpenAlert | undefined, log: Logger): void {
  const { id, kind, subject, severity, summary } = alert;
  const about = { alert: id, kind, subject, summary };
  if (alert.recoveredAt !== null) log.info(about, 'alert ended');
  else if (alert.raisedAt !== null && before?.raisedAt == null) log.warn(about, 'alert raised');
  else if (alert.raisedAt !== null && severity === 'critical' && before?.severity === 'warning')
    log.warn(about, 'alert became critical');
}
