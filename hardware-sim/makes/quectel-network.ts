// Carrier profiles and calls over LTE of Quectel modems: +QMBNCFG and +QCFG="ims". Sources: the AT commands and QCFG manuals of EC2x and EG2x.
import { type Answer, CME, cme, ok } from '../at/answer.ts';
import type { AtCommand } from '../at/at-line.ts';
import type { CommandContext } from '../behaviors/behavior.ts';
import type { MobileEquipment } from '../equipment/mobile-equipment.ts';

/** Part of the list of an EG25-G with firmware EG25GGBR07A08M2G, as its users publish it: name, version, date. */
const PROFILES: readonly (readonly [name: string, version: string, date: string])[] = [
  ['ROW_Generic_3GPP', '0x0501081F', '202307241'],
  ['VoLTE-ATT', '0x0501033C', '202203251'],
  ['hVoLTE-Verizon', '0x05010141', '202302081'],
  ['Sprint-VoLTE', '0x05010205', '202010201'],
  ['Commercial-TMO_VoLTE', '0x05010505', '202301051'],
  ['Commercial-DT', '0x05011F1C', '202310161'],
  ['TF_Spain_VoLTE', '0x05010CFA', '202306211'],
  ['Commercial-USCC', '0x0504FC40', '202203021'],
];
/** The automatic choice finds no profile for the card, as for those of MVNOs. */
const GENERIC = 'ROW_Generic_3GPP';
const AUTO = '+QMBNCFG AutoSel';
const SELECTED = '+QMBNCFG Select';
const IMS = '+QCFG ims';
const NONE = '';

function listed({ faults }: MobileEquipment): typeof PROFILES {
  const names = faults.get('carrier_profiles')?.names;
  return names === undefined ? PROFILES : PROFILES.filter(([name]) => names.includes(name));
}

const isAutomatic = (value: string | undefined): boolean => (value ?? '1') === '1';

/** Takes effect at the next start; the automatic choice is made again at each. */
function selectedIn({ flash }: MobileEquipment): string {
  return isAutomatic(flash.get(AUTO)) ? GENERIC : (flash.get(SELECTED) ?? GENERIC);
}

function activeIn({ flash }: MobileEquipment): string {
  return isAutomatic(flash.inEffect(AUTO)) ? GENERIC : (flash.inEffect(SELECTED) ?? GENERIC);
}

function select(equipment: MobileEquipment, name: string | undefined): Answer {
  if (name === undefined) return ok(`+QMBNCFG: "Select","${selectedIn(equipment)}"`);
  if (!listed(equipment).some(([each]) => each === name)) return cme(CME.incorrectParameters);
  // Firmware refuses a second profile beside an active one.
  if (selectedIn(equipment) !== NONE && selectedIn(equipment) !== name) return cme(CME.operationNotAllowed);
  equipment.flash.set(SELECTED, name);
  return ok();
}

/** AT+QMBNCFG="List" | "AutoSel"[,(0,1)] | "Select"[,name] | "Deactivate". Names of operations in any case. */
export function carrierProfiles({ operation, parameters }: AtCommand, { equipment }: CommandContext): Answer {
  if (operation === 'test')
    return ok(
      '+QMBNCFG: "List"',
      '+QMBNCFG: "Select"[,<MBN name>]',
      '+QMBNCFG: "Deactivate"',
      '+QMBNCFG: "AutoSel"[,(0,1)]',
    );
  const [what, value] = parameters;
  if (operation !== 'set') return cme(CME.incorrectParameters);
  switch (what?.toLowerCase()) {
    case 'list': {
      const [selected, active] = [selectedIn(equipment), activeIn(equipment)];
      const flag = (is: boolean): number => (is ? 1 : 0);
      const lines = listed(equipment).map(
        ([name, version, date], index) =>
          `+QMBNCFG: "List",${index},${flag(name === selected)},${flag(name === active)},"${name}",${version},${date}`,
      );
      return ok(...lines);
    }
    case 'autosel':
      if (value === undefined) return ok(`+QMBNCFG: "AutoSel",${equipment.flash.get(AUTO) ?? '1'}`);
      if (!/^[01]$/.test(value)) return cme(CME.incorrectParameters);
      equipment.flash.set(AUTO, value);
      return ok();
    case 'deactivate':
      equipment.flash.set(SELECTED, NONE);
      return ok();
    case 'select':
      return select(equipment, value);
    default:
      return cme(CME.incorrectParameters);
  }
}

/** <mode> of +QCFG="ims": 0 as the carrier profile says, 1 on, 2 off; then whether it is on since the last start. */
export function callsOverLte(values: readonly string[], { equipment }: CommandContext): Answer {
  const { flash } = equipment;
  const [mode = flash.get(IMS) ?? '0'] = values;
  if (values.length > 1 || !/^[012]$/.test(mode)) return cme(CME.incorrectParameters);
  if (values.length === 0) {
    const atStart = flash.inEffect(IMS) ?? '0';
    const isOn = atStart === '1' || (atStart === '0' && /VoLTE/i.test(activeIn(equipment)));
    return ok(`+QCFG: "ims",${mode},${isOn ? 1 : 0}`);
  }
  flash.set(IMS, mode);
  return ok();
}
