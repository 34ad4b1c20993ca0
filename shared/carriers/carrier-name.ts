// The network of a SIM as people read it. Modems report its code: mobile country code, then mobile network code (ITU-T E.212).
import { US_NETWORKS } from './us-networks.ts';

const CODE = /^\d{5,6}$/;

/** "T-Mobile (310260)". An unknown code, and a name that a modem reports in place of a code, are returned unchanged. */
export function shownCarrier(reported: string): string {
  const name = US_NETWORKS.get(reported);
  return name === undefined ? reported : `${name} (${reported})`;
}

/** "T-Mobile", or the code, or what the modem reports: for narrow places. */
export const shortCarrier = (reported: string): string => US_NETWORKS.get(reported) ?? reported;

/** Whether the code is one of a US network. */
export const isKnownCarrier = (reported: string): boolean => US_NETWORKS.has(reported);

/** Whether the text is a code, and not any text of a modem. */
export const isCarrierCode = (reported: string): boolean => CODE.test(reported);

/** The codes that an operator means: by a code or another text itself; by a part of a name, all codes of those networks. */
export function carriersNamed(text: string): string[] {
  const wanted = text.trim().toLowerCase();
  const codes = [...US_NETWORKS].filter(([, name]) => name.toLowerCase().includes(wanted));
  return [...new Set([text.trim(), ...codes.map(([code]) => code)])];
}
