// Why texts were not delivered, in the words of the traffic report.

/**
 * Why a text was not delivered. `carrier_refused`: the carrier did not take it; `undeliverable`, `gave_up`, `expired`: the carrier reported
 * it, permanently, after temporary errors, or when the text was too old; `modem`: the modem could not send; `node_refused`, `node_offline`:
 * it never reached a modem.
 */
export const FAILURE_CLASSES = [
  'carrier_refused',
  'undeliverable',
  'gave_up',
  'expired',
  'modem',
  'node_refused',
  'node_offline',
] as const;
export type FailureClass = (typeof FAILURE_CLASSES)[number];

/** 3GPP TS 27.005 §3.2.5: these codes come from the message service; all others from the modem or the node. */
export const isOfCarrier = (code: string): boolean => code.startsWith('cms_');

export const classOfRejection = ({ code }: { code: string }): FailureClass =>
  isOfCarrier(code) ? 'carrier_refused' : 'modem';

/** 3GPP TS 23.040 §9.2.3.15: from here on the service center gave up after temporary errors. */
const TEMPORARY_FROM = 0x60;
const TEMPORARY_TO = 0x7f;

/** Class of a final delivery report. */
export function classOfReport(status: 'failed' | 'expired', tpStatus: number): FailureClass {
  if (status === 'expired') return 'expired';
  return tpStatus >= TEMPORARY_FROM && tpStatus <= TEMPORARY_TO ? 'gave_up' : 'undeliverable';
}
