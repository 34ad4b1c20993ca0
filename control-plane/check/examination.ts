// Runs the checks side by side, each in limited time, and keeps secrets out of what they found.
import { systemClock, withTimeout } from '#shared/clock.ts';
import { type Outcome, problem, warning } from '#shared/operator/findings.ts';
import { chainChecks } from './checks/chain.ts';
import { channelChecks } from './checks/channels.ts';
import { CHECK_TIMEOUT_MS, type Check, type CheckedSettings, firstLineOf } from './checks/check.ts';
import { configuration } from './checks/configuration.ts';
import { storeChecks } from './checks/database.ts';
import { publicChecks } from './checks/public-url.ts';
import { speechChecks } from './checks/speech.ts';
import { type CheckReport, checkReportOf, type Finding } from './report.ts';
import { withoutSecrets } from './secrets.ts';

/** Never rejects, and takes little longer than the slowest check. */
export async function examine(settings: CheckedSettings): Promise<CheckReport> {
  const beganAt = systemClock.now();
  const cleaned = withoutSecrets(settings);
  const checks = [
    configuration(settings),
    ...storeChecks(settings),
    ...publicChecks(settings),
    ...channelChecks(settings),
    ...speechChecks(settings),
    ...chainChecks(settings),
  ];
  const findings = await Promise.all(
    checks.map(async (each): Promise<Finding> => {
      const { verdict, seen, advice } = await outcomeOf(each);
      const { check, chain } = each;
      return { check, chain, verdict, seen: cleaned(seen), advice: advice && cleaned(advice) };
    }),
  );
  return checkReportOf(findings, { beganAt, endedAt: systemClock.now() });
}

class NoAnswerInTime extends Error {
  override name = 'NoAnswerInTime';
}

/** A check that fails in an unforeseen way says nothing about the service: that is no "ok". */
async function outcomeOf({ run, timeoutMs = CHECK_TIMEOUT_MS }: Check): Promise<Outcome> {
  const giveUp = new AbortController();
  try {
    return await withTimeout(systemClock, run(giveUp.signal), timeoutMs, () => new NoAnswerInTime());
  } catch (error) {
    if (!(error instanceof NoAnswerInTime))
      return warning(
        `the check failed: ${firstLineOf(error)}`,
        'Run the command again. If it fails again, report it as a bug of the check.',
      );
    giveUp.abort();
    return problem(
      `no answer in ${timeoutMs / 1000} s`,
      'Check that the server responds, and the network and the firewalls in between.',
    );
  }
}
