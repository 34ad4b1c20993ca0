// Examines a rack through the operator API: that of the running daemon, or one that opens the modems for the examination.
import { systemClock } from '#shared/clock.ts';
import type { DaemonSettings } from '../config/options.ts';
import type { NodeOperator } from '../operator/node-operator.ts';
import { openNodeOperator } from '../operator/open-operator.ts';
import { guardOfProcess } from '../system/hang-guard.ts';
import { type ExaminationParts, examine } from './examination.ts';
import type { RackAccess } from './rack-slots.ts';
import type { DoctorReport } from './report/report.ts';

const LINK_TIMEOUT_MS = 2_000;

/** Examines, and calls `onReport` before the modems are given back, which may take seconds. */
export async function examineRack(
  settings: DaemonSettings,
  parts: Pick<ExaminationParts, 'configurationProblem' | 'playsTones'>,
  onReport: (report: DoctorReport) => void,
): Promise<void> {
  const guard = guardOfProcess(systemClock);
  let operator: NodeOperator | undefined;
  const openRack = async (): Promise<RackAccess> => {
    operator = await openNodeOperator(settings, { tool: 'doctor', guard, waitsForModems: false });
    return rackAccessOf(operator);
  };
  onReport(await examine(settings, { ...parts, guard, openRack }));
  await operator?.close();
  // An exit waits for every thread, and no signal but this one ends those that hang in a port.
  if (guard.hanging > 0) process.kill(process.pid, 'SIGKILL');
}

/** The part of the operator API that the examination uses. */
export function rackAccessOf(operator: NodeOperator): RackAccess {
  return {
    isRunningDaemon: operator.isRunningDaemon,
    slots: () => operator.call('slots', {}),
    at: (slot, command, { timeoutMs, turnMs, unsafe }) =>
      operator.call('at', { slot, command, unsafe, timeout_ms: timeoutMs, turn_ms: turnMs }),
    async link() {
      const signal = AbortSignal.timeout(LINK_TIMEOUT_MS);
      for await (const { link: state, link_failure: failure } of operator.follow('watch', { signal }))
        return state === null ? undefined : { state, failure };
      return undefined;
    },
  };
}
