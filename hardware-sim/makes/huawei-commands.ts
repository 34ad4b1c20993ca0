// Commands of Huawei sticks (Huawei datacard AT command interface specification).

import { ok } from '../at/answer.ts';
import type { ModemSettings } from '../at/settings.ts';
import { type Behaviour, commandFamily, forms } from '../behaviours/behaviour.ts';
import { iccidOf, shownSimState } from '../behaviours/iccid.ts';
import { keptCommands } from '../behaviours/kept-settings.ts';
import { isRegistered } from '../equipment/registration.ts';

/** ^CURC=0 silences the lines that come by themselves now and then. */
export function isChatty(settings: ModemSettings): boolean {
  return settings.kept.get('^CURC') !== '0';
}

/** ^CPIN: state, tries of what is asked for, then of PUK, PIN, PUK2, PIN2. */
const pinState = forms({
  read: (_, context) => {
    const { tries } = context.equipment.sim;
    const shown = shownSimState(context);
    const asked = { 'SIM PIN': String(tries.pin), 'SIM PUK': String(tries.puk) }[shown] ?? '';
    return ok(`^CPIN: ${shown},${asked},${tries.puk},${tries.pin},10,3`);
  },
  test: () => ok(),
});

const restart = forms({
  execute: (_, { equipment }) => {
    setImmediate(() => equipment.restart());
    return ok();
  },
  test: () => ok(),
});

/** Service, domain, roaming, mode 5 WCDMA, SIM. */
const systemInformation = forms({
  execute: (_, { equipment }) => {
    const hasService = isRegistered(equipment.registration);
    return ok(`^SYSINFO:${hasService ? '2,3,0,5' : '0,0,0,0'},${equipment.sim.state === 'ready' ? 1 : 255}`);
  },
  test: () => ok(),
});

const extendedSignal = forms({
  read: (_, { equipment }) =>
    ok(isRegistered(equipment.registration) ? '^HCSQ:"WCDMA",40,38,45' : '^HCSQ:"NOSERVICE"'),
  test: () => ok(),
});

/** ^ICCID, ^CPIN, ^RESET, ^SYSINFO, ^HCSQ, and settings that change nothing. */
export function huaweiCommands(shownIccid: (iccid: string) => string): Behaviour {
  return commandFamily('Huawei', {
    '^ICCID': forms({
      read: (_, context) => ok(`^ICCID: ${shownIccid(iccidOf(context))}`),
      test: () => ok(),
    }),
    '^CPIN': pinState,
    '^RESET': restart,
    '^SYSINFO': systemInformation,
    '^HCSQ': extendedSignal,
    ...keptCommands({
      '^CURC': { initial: '1', range: '(0,1)' },
      '^U2DIAG': { initial: '0', range: '(0,1,255)' },
      '^PORTSEL': { initial: '0', range: '(0,1)' },
      '^CVOICE': { initial: '0,8000,16,20', range: '(0)' },
      '^DDTMFCFG': { initial: '0', range: '(0,1)' },
    }),
  });
}
