// The composition root: journal, modems and link of one host, started and stopped in order.
import { type Clock, systemClock } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import { lockFolder } from '#shared/process/single-instance.ts';
import { type OpenPort, openSerialPort } from './at/port.ts';
import type { ModemPort } from './config.ts';
import { Journal } from './journal/journal.ts';
import { CommandHandler } from './link/command-handler.ts';
import { ControlLink } from './link/control-link.ts';
import { LateParts } from './modem/late-parts.ts';
import { Modem } from './modem/modem.ts';
import { Rack } from './modem/rack.ts';
import { settleIntents } from './modem/sms-left-behind.ts';

/** What an operator chooses. */
export interface DaemonOptions {
  readonly controlPlaneUrl: string;
  readonly nodeId: string;
  readonly linkSecret: string;
  readonly modemPorts: readonly ModemPort[];
  readonly dataDir: string;
}

/** What a program or a test brings along. */
export interface DaemonParts {
  readonly log: Logger;
  readonly clock?: Clock;
  /** How an AT port is opened; a serial device where nothing else is said. */
  readonly openPort?: OpenPort;
}

/**
 * Starts the daemon of a host. Rejects when its data folder cannot be used; modems that are not there and
 * a control plane that does not answer are waited for.
 */
export async function startDaemon(
  options: DaemonOptions,
  { log, clock = systemClock, openPort = openSerialPort }: DaemonParts,
): Promise<{ stop(): Promise<void> }> {
  const { controlPlaneUrl, dataDir, linkSecret, modemPorts, nodeId } = options;
  const unlock = await lockFolder(dataDir, 'node-daemon', 0o700);
  const journal = await Journal.open({ folder: dataDir, clock, log }).catch(async (error) => {
    await unlock();
    throw error;
  });
  await settleIntents({ journal, clock, log });
  const modems = modemPorts.map(
    ({ slot, path }) =>
      new Modem({
        ...{ slot, path, openPort, journal, clock },
        log: log.child({ slot }),
        onChange: () => link.slotsChanged(),
      }),
  );
  const rack = new Rack(modems);
  const commands = new CommandHandler({ rack, journal, clock, log });
  const link: ControlLink = new ControlLink({
    ...{ controlPlaneUrl, nodeId, linkSecret, journal, commands, clock, log },
    slots: () => rack.slots(),
  });
  const lateParts = new LateParts({ journal, clock, log });
  rack.start();
  lateParts.start();
  link.start();
  log.info({ nodeId, slots: modemPorts.map(({ slot }) => slot) }, 'started');
  return {
    async stop() {
      lateParts.stop();
      await rack.stop();
      await link.stop();
      await journal.close();
      await unlock();
    },
  };
}
