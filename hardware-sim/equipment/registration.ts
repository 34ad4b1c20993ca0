// Whether the modem is on the network, as each of its registration commands reports it. Pure.

/** 3GPP TS 27.007 §7.2, `<stat>`. */
export const STAT_OFF = 0;
/** Registered, home network. */
const STAT_HOME = 1;
/** Not registered, searching. */
const STAT_SEARCHING = 2;
/** Registration denied. */
export const STAT_DENIED = 3;

/** Registered, roaming. */
const STAT_ROAMING = 5;

/** `<stat>` of each domain. */
export interface Registration {
  /** +CREG: calls on 2G and 3G. */
  circuitSwitched: number;
  /** +CGREG. */
  packetSwitched: number;
  /** +CEREG: LTE. */
  evolved: number;
}

/** The conditions of registration. */
interface RadioConditions {
  /** +CFUN=1. */
  isRadioOn: boolean;
  isSimReady: boolean;
  isSearching: boolean;
  isDenied: boolean;
  isRoaming: boolean;
  isVolteOnly: boolean;
}

/** `<stat>` of all domains under these conditions. */
export function registrationOf(conditions: RadioConditions): Registration {
  if (!conditions.isRadioOn) return all(STAT_OFF);
  if (!conditions.isSimReady || conditions.isSearching) return all(STAT_SEARCHING);
  if (conditions.isDenied) return all(STAT_DENIED);
  const registered = conditions.isRoaming ? STAT_ROAMING : STAT_HOME;
  if (conditions.isVolteOnly) {
    return { circuitSwitched: STAT_DENIED, packetSwitched: STAT_DENIED, evolved: registered };
  }
  return all(registered);
}

function all(stat: number): Registration {
  return { circuitSwitched: stat, packetSwitched: stat, evolved: stat };
}

/** Messages can be sent and received over any of the three. */
export function isRegistered(registration: Registration): boolean {
  return Object.values(registration).some(isRegisteredStat);
}

export function isRoaming(registration: Registration): boolean {
  return Object.values(registration).includes(STAT_ROAMING);
}

function isRegisteredStat(stat: number): boolean {
  return stat === STAT_HOME || stat === STAT_ROAMING;
}

/** Location area (tracking area), cell and access technology of the one cell that there is. */
const CELL = '"1A2B","01A2B3C4",7';
/** `<cause_type>`: what follows is a cause of mobility management. */
const CAUSE_TYPE_MM = 0;

/**
 * The text after "+CREG: " in a report. With `n` of 2 it has the cell, with 3 also the reject cause (3GPP TS
 * 27.007 §7.2).
 */
export function registrationText(stat: number, n: number, rejectCause: number | undefined): string {
  if (n >= 2 && isRegisteredStat(stat)) return `${stat},${CELL}`;
  if (n >= 3 && stat === STAT_DENIED && rejectCause !== undefined) {
    return `${stat},,,,${CAUSE_TYPE_MM},${rejectCause}`;
  }
  return String(stat);
}
