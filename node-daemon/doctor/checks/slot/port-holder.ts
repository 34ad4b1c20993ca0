// Has another program the modem's ports?
import { ok, problem, skipped, warning } from '../../finding.ts';
import type { Holder } from '../../host/device-node.ts';
import type { SlotCheck } from '../check.ts';

/** Programs that talk to modems by themselves, by the first 15 letters of their names, and how they are kept away. */
const RIVALS: Readonly<Record<string, string>> = {
  ModemManager: 'install the udev rules of the daemon, or: systemctl disable --now ModemManager',
  brltty: 'it takes serial adapters for Braille displays: apt remove brltty',
  'gammu-smsd': 'systemctl disable --now gammu-smsd',
  gammu: 'wait for its end, or end it',
  smsd: 'systemctl disable --now smstools',
  asterisk: 'take chan_dongle or chan_quectel out of its configuration',
  bearerbox: 'take the modem out of the configuration of Kannel',
  pppd: 'take the port out of /etc/ppp and of what starts pppd',
  wvdial: 'end it',
  minicom: 'close it',
  picocom: 'close it',
  screen: 'close it',
};

export const portHolder: SlotCheck = ({ nodes, slot }, { desk, host }) => {
  if (nodes.length === 0) return skipped('no port is there');
  const held = nodes.flatMap(({ holders, path }) => holders.map((holder) => ({ path, holder })));
  const rival = held.find(({ holder }) => holder.name in RIVALS);
  if (rival !== undefined) {
    const seen = `${nameOf(rival.holder)} has ${rival.path} open`;
    const advice = `two programs on one modem take each other’s answers and messages: ${RIVALS[rival.holder.name]}`;
    return problem(seen, advice);
  }
  if (slot?.state !== 'lost' || slot.reason !== 'denied') return ok('nobody but the daemon');
  // Who locked it keeps us out; others may have it open beside, as a simulator has.
  const taken = held.find(({ holder }) => holder.hasLock) ?? held[0];
  if (taken !== undefined)
    return problem(
      `${nameOf(taken.holder)} has ${taken.path}`,
      'end that program, or take this modem out of its configuration',
    );
  if (!desk.isDaemonRunning) return ok('nobody that can be seen');
  if (host.user.uid === 0)
    return problem(
      'the daemon may not open it, and nobody has it',
      'the user of the daemon has no rights on it: sudo usermod -aG <the group of the port, see "ls -l"> <that user>, then restart the daemon',
    );
  return warning(
    'the daemon may not open it, and who has it cannot be seen',
    'run doctor as root: only root sees the files of all programs',
  );
};

const nameOf = ({ name, pid }: Holder): string => `${name} (pid ${pid})`;
