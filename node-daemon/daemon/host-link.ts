// The link of a host to its control plane: the node's identity, the commands that it runs, and the events that it reports.
import type { Destinations } from '#shared/destination-list.ts';
import { enrollCommand } from '../config/enroll-command.ts';
import type { Host } from '../host/host.ts';
import { CommandHandler } from '../link/command-handler.ts';
import { ControlLink } from '../link/control-link.ts';
import { IdentityFile } from '../link/identity.ts';
import { MediaLink } from '../link/media-link.ts';
import { PinBox } from '../link/pin-box.ts';
import { countCommands } from '../metrics/counting.ts';
import type { NodeMetrics } from '../metrics/node-metrics.ts';

/** As the detail of an event. */
const DETAIL_LENGTH_MAX = 200;

/** The parts that the link uses besides the host. */
interface HostLinkParts {
  readonly dataDir: string;
  /** Allowed destinations of texts and calls. */
  readonly destinations: Destinations;
  readonly metrics: NodeMetrics;
}

/** The parts of a link. */
export interface HostLink {
  readonly identity: IdentityFile;
  /** Also runs an operator's commands. */
  readonly commands: Pick<CommandHandler, 'handle'>;
  /** Not started. */
  readonly link: ControlLink;
}

/** Reads the identity of this node. The link connects after `link.start`. */
export async function openLink(host: Host, parts: HostLinkParts): Promise<HostLink> {
  const { calls, clock, journal, log, rack, random } = host;
  const { dataDir, destinations, metrics } = parts;
  const identity = new IdentityFile({ folder: dataDir, clock, log });
  await identity.open();
  if (journal.isNew && identity.current !== undefined) {
    log.warn(
      { folder: dataDir, journalId: journal.state.journalId },
      'no journal found for an enrolled node: unless this is its first start, messages may be lost',
    );
  }
  if (identity.current === undefined)
    log.warn({}, `this node is not enrolled: run "${enrollCommand(dataDir)}" while the daemon runs`);
  const pins = await PinBox.create();
  const commands = countCommands(commandHandler(host, { destinations, identity, pins }), metrics);
  const link = new ControlLink({
    identity,
    pins,
    journal,
    commands,
    clock,
    random,
    log,
    slots: () => rack.slots(),
    calls: () => calls.live,
    alarms: () => host.alarms(),
  });
  reportEvents(host, link);
  return { identity, commands, link };
}

function commandHandler(
  host: Host,
  { destinations, identity, pins }: { destinations: Destinations; identity: IdentityFile; pins: PinBox },
): CommandHandler {
  const { calls, clock, journal, log, rack, sendLimits } = host;
  return new CommandHandler({
    rack,
    journal,
    limits: sendLimits,
    calls,
    clock,
    log,
    destinations,
    pins: { box: pins, sims: host.sims },
    openMedia: async (baseUrl, ticket, events) => {
      const { controlPlaneUrl, isInsecure = false } = identity.current ?? {};
      const url = baseUrl ?? controlPlaneUrl;
      if (url === undefined) throw new Error('this node is not enrolled');
      return MediaLink.open(url, ticket, { clock, log, events, isInsecure });
    },
  });
}

function reportEvents(host: Host, link: ControlLink): void {
  host.observe({
    slotsChanged: () => link.slotsChanged(),
    stepTaken(slot, step, trouble) {
      const at = new Date(host.clock.now()).toISOString();
      link.sendEvent({ slot, kind: 'recovery_step', detail: `${step}: ${trouble}`, at });
    },
    stepFailed(slot, step, why) {
      const at = new Date(host.clock.now()).toISOString();
      link.sendEvent({
        slot,
        kind: 'recovery_step',
        detail: `${step} failed: ${why}`.slice(0, DETAIL_LENGTH_MAX),
        at,
      });
    },
    callChanged: (call) => link.callChanged(call),
  });
  host.journal.onFailing(() => link.slotsChanged());
}
