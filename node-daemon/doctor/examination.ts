// The whole examination: reads the host and all slots at once, then runs every check on the facts.
import { type Clock, systemClock, withTimeout } from '#shared/clock.ts';
import { messageOf } from '#shared/error-message.ts';
import { type Outcome, warning } from '#shared/operator/findings.ts';
import { OtherProgramError } from '#shared/operator/operator-client.ts';
import { OperatorError } from '#shared/operator/operator-error.ts';
import { type OpenPort, serialPorts } from '../at/port.ts';
import type { NodeConfig } from '../config/node-config.ts';
import type { DaemonSettings } from '../config/options.ts';
import type { ShownSlot } from '../host/shown-slots.ts';
import { authorizedFile } from '../modem/recovery/outside-steps.ts';
import type { HangGuard } from '../system/hang-guard.ts';
import { HOST_CHECKS, SLOT_CHECKS } from './checks/all-checks.ts';
import type { Seen } from './checks/check.ts';
import { finalSlots, findSlots, modemDevices, type RackAccess } from './rack-slots.ts';
import { type DoctorReport, doctorReportOf, type Finding } from './report/report.ts';
import { type HostView, readHost, readPrograms } from './seen/host-view.ts';
import { examineSlot } from './slot-examination.ts';

/** Time that a modem needs from opening to registration. */
const SETTLE_TIMEOUT_MS = 6_000;
/** A running daemon has usually opened its modems long before. */
const SETTLE_WITH_DAEMON_TIMEOUT_MS = 1_000;
/** A daemon that hangs does not answer. */
const DAEMON_TIMEOUT_MS = 4_000;

/** The parts that an examination uses. */
export interface ExaminationParts {
  /** Opens the operator API. Its rejection is a finding. */
  readonly openRack: () => Promise<RackAccess>;
  /** The error in the configuration file; with one, `openRack` is not called. */
  readonly configurationProblem?: string | undefined;
  /** Opening audio ports may hang in the kernel. */
  readonly guard: HangGuard;
  /** Whether tones may be played into the modems of a running daemon. */
  readonly playsTones: boolean;
  readonly openPort?: OpenPort;
  readonly clock?: Clock;
}

/** Examines the host and its modems, in less than 20 s even if some of them hang. Never rejects. */
export async function examine(settings: DaemonSettings, parts: ExaminationParts): Promise<DoctorReport> {
  const { configurationProblem, guard, openRack, playsTones, clock = systemClock } = parts;
  const { openPort = serialPorts({ clock, guard }) } = parts;
  const { config, devRoot } = settings;
  const beganAt = clock.now();
  let wrongFolderAdvice: string | undefined;
  let doesProblemAdvise = false;
  const failureOf = (error: unknown): string => {
    doesProblemAdvise = error instanceof OperatorError && error.reason === 'unreachable';
    if (!(error instanceof OtherProgramError)) return messageOf(error);
    wrongFolderAdvice = error.advice;
    return error.seen;
  };
  const [host, opened] = await Promise.all([
    readHost(settings, clock),
    configurationProblem === undefined
      ? openRack().catch(failureOf)
      : 'the configuration file must be fixed first',
  ]);
  const rack = typeof opened === 'string' ? undefined : opened;
  const reported = rack === undefined ? [] : await slotsOf(rack, { host, config, clock }).catch(messageOf);
  const known = typeof reported === 'string' ? [] : reported;
  const found = findSlots(known, { devices: host.devices, config, devRoot });
  const discovers = config.discover !== false;
  const asked = typeof reported === 'string' ? undefined : rack;
  const resetFileOf = (usbPath: string): string | undefined =>
    config.recovery.usbReset === 'authorized' ? authorizedFile(settings.sysfsRoot, usbPath) : undefined;
  const slotParts = { rack: asked, discovers, host, openPort, devRoot, playsTones, resetFileOf, clock };
  const programs = readPrograms();
  const [slots, link] = await Promise.all([
    Promise.all(found.map((each) => examineSlot(each, { ...slotParts, programs }))),
    rack?.link().catch(() => undefined),
  ]);
  const isDaemonRunning = rack?.isRunningDaemon === true;
  const problem = [opened, reported].find((each) => typeof each === 'string');
  return doctorReportOf({
    findings: judgeAll({
      host,
      slots,
      daemon: {
        isDaemonRunning,
        link: link?.state,
        linkFailure: link?.failure,
        configurationProblem,
        problem,
        doesProblemAdvise,
        wrongFolderAdvice,
      },
    }),
    slots: slots.map(({ name }) => name),
    isDaemonRunning,
    beganAt,
    endedAt: clock.now(),
  });
}

/** Rejects if the operator API rejects or does not answer. */
function slotsOf(
  rack: RackAccess,
  { host, config, clock }: { host: HostView; config: NodeConfig; clock: Clock },
): Promise<ShownSlot[]> {
  const usbPaths = modemDevices(host.devices, config)
    .filter(({ interfaces }) => config.discover !== false && interfaces.some(({ tty }) => tty !== undefined))
    .map(({ usbPath }) => usbPath);
  const timeoutMs = rack.isRunningDaemon ? SETTLE_WITH_DAEMON_TIMEOUT_MS : SETTLE_TIMEOUT_MS;
  return withTimeout(
    clock,
    finalSlots(rack, { usbPaths, timeoutMs, clock }),
    timeoutMs + DAEMON_TIMEOUT_MS,
    () => new Error('the daemon does not answer'),
  );
}

/** Runs the checks of the host, then those of each slot. */
function judgeAll(seen: Seen): Finding[] {
  const host = Object.entries(HOST_CHECKS).map(([check, judge]) => ({
    check,
    slot: null,
    ...outcomeOf(() => judge(seen)),
  }));
  const slots = seen.slots.flatMap((slot) =>
    Object.entries(SLOT_CHECKS).map(([check, judge]) => ({
      check,
      slot: slot.name,
      ...outcomeOf(() => judge(slot, seen)),
    })),
  );
  return [...host, ...slots];
}

/** A check that throws on unexpected facts does not stop the others. */
function outcomeOf(judge: () => Outcome): Outcome {
  try {
    return judge();
  } catch (error) {
    return warning(`the check failed: ${messageOf(error)}`, 'This is a bug in doctor: please report it.');
  }
}
