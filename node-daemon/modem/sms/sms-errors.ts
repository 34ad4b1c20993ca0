// The meaning of the error codes of AT+CMGS for a message (3GPP TS 27.005 §3.2.5, 24.011 §8.2.5.4, 23.040 §9.2.3.22, 27.007 §9.2). Data.

/**
 * `retry`, `wait`, `final`: the message was not accepted. `retry`: send it again soon. `wait`: send it again after SIM or modem were
 * repaired. `final`: do not send it again. `ambiguous`: it may have been sent.
 */
export type ErrorClass = 'retry' | 'wait' | 'final' | 'ambiguous';

/** An error code's name and class. */
export interface ErrorMeaning {
  readonly name: string;
  readonly class: ErrorClass;
}

type Table = Readonly<Record<number, readonly [ErrorClass, string]>>;

const CMS: Table = {
  // RP causes of the network (24.011 table 8.4).
  1: ['final', 'unassigned number'],
  8: ['final', 'operator determined barring'],
  10: ['final', 'call barred'],
  17: ['retry', 'network failure'],
  21: ['final', 'short message transfer rejected'],
  22: ['retry', 'congestion'],
  27: ['retry', 'destination out of service'],
  28: ['final', 'unidentified subscriber'],
  29: ['final', 'facility rejected'],
  30: ['final', 'unknown subscriber'],
  38: ['retry', 'network out of order'],
  41: ['retry', 'temporary failure'],
  42: ['retry', 'congestion'],
  47: ['retry', 'resources unavailable'],
  50: ['final', 'requested facility not subscribed'],
  69: ['final', 'requested facility not implemented'],
  81: ['retry', 'invalid short message transfer reference value'],
  95: ['final', 'semantically incorrect message'],
  96: ['final', 'invalid mandatory information'],
  97: ['retry', 'message type not implemented'],
  98: ['retry', 'message not compatible with protocol state'],
  99: ['retry', 'information element not implemented'],
  111: ['retry', 'protocol error'],
  127: ['retry', 'interworking'],
  // TP failure causes of the service center (23.040 §9.2.3.22).
  128: ['final', 'telematic interworking not supported'],
  129: ['final', 'short message type 0 not supported'],
  130: ['final', 'cannot replace short message'],
  143: ['final', 'unspecified TP-PID error'],
  144: ['final', 'data coding scheme not supported'],
  145: ['final', 'message class not supported'],
  159: ['final', 'unspecified TP-DCS error'],
  160: ['final', 'command cannot be actioned'],
  161: ['final', 'command unsupported'],
  175: ['final', 'unspecified TP-Command error'],
  176: ['final', 'TPDU not supported'],
  192: ['retry', 'service center busy'],
  193: ['final', 'no service center subscription'],
  194: ['retry', 'service center system failure'],
  195: ['final', 'invalid address'],
  196: ['final', 'destination barred'],
  // The service center already has this message. The daemon never sends one twice, so the network repeated it.
  197: ['ambiguous', 'rejected as a duplicate'],
  198: ['final', 'TP-VPF not supported'],
  199: ['final', 'TP-VP not supported'],
  208: ['wait', 'SIM storage full'],
  209: ['wait', 'no storage capability in SIM'],
  210: ['wait', 'error in the modem'],
  211: ['wait', 'memory capacity exceeded'],
  212: ['retry', 'SIM application toolkit busy'],
  213: ['wait', 'SIM data download error'],
  // Errors of the modem itself (27.005 §3.2.5).
  300: ['wait', 'modem failure'],
  301: ['retry', 'SMS service of the modem reserved'],
  302: ['wait', 'operation not allowed'],
  303: ['final', 'operation not supported'],
  304: ['final', 'invalid PDU mode parameter'],
  305: ['final', 'invalid text mode parameter'],
  310: ['wait', 'SIM not inserted'],
  311: ['wait', 'SIM PIN required'],
  312: ['wait', 'PH-SIM PIN required'],
  313: ['wait', 'SIM failure'],
  314: ['retry', 'SIM busy'],
  315: ['wait', 'wrong SIM'],
  316: ['wait', 'SIM PUK required'],
  317: ['wait', 'SIM PIN2 required'],
  318: ['wait', 'SIM PUK2 required'],
  320: ['wait', 'memory failure'],
  321: ['final', 'invalid memory index'],
  322: ['wait', 'memory full'],
  330: ['wait', 'service center address unknown'],
  331: ['wait', 'no network service'],
  332: ['ambiguous', 'network time-out'],
  340: ['final', 'no acknowledgement expected'],
  500: ['ambiguous', 'unknown error'],
  // Makers' codes that several makes use.
  512: ['retry', 'user abort'],
  513: ['wait', 'unable to store'],
  515: ['final', 'bad character'],
  516: ['final', 'length fault'],
  521: ['ambiguous', 'timer expired'],
  522: ['retry', 'temporarily not allowed'],
  532: ['wait', 'SIM not ready'],
  535: ['retry', 'protocol stack busy'],
  549: ['final', 'length fault'],
  553: ['final', 'length fault'],
  554: ['final', 'length fault'],
  615: ['retry', 'network failure'],
  616: ['retry', 'network failure'],
};

const CME: Table = {
  3: ['wait', 'operation not allowed'],
  4: ['final', 'operation not supported'],
  5: ['wait', 'PH-SIM PIN required'],
  6: ['wait', 'PH-FSIM PIN required'],
  7: ['wait', 'PH-FSIM PUK required'],
  10: ['wait', 'SIM not inserted'],
  11: ['wait', 'SIM PIN required'],
  12: ['wait', 'SIM PUK required'],
  13: ['wait', 'SIM failure'],
  14: ['retry', 'SIM busy'],
  15: ['wait', 'wrong SIM'],
  16: ['wait', 'incorrect password'],
  17: ['wait', 'SIM PIN2 required'],
  18: ['wait', 'SIM PUK2 required'],
  20: ['wait', 'memory full'],
  23: ['wait', 'memory failure'],
  26: ['final', 'dial string too long'],
  27: ['final', 'invalid characters in dial string'],
  30: ['wait', 'no network service'],
  31: ['ambiguous', 'network time-out'],
  32: ['wait', 'network not allowed: emergency calls only'],
  40: ['wait', 'network personalization PIN required'],
  41: ['wait', 'network personalization PUK required'],
  100: ['ambiguous', 'unknown error'],
};

/** Highest code of a refusal by the network. 24.011 §8.2.5.4 and 23.040 §9.2.3.22 reserve the unlisted ones. */
const NETWORK_CODE_MAX = 255;

/** Returns the meaning of `+CMS ERROR: <code>`. */
export function cmsMeaning(code: number): ErrorMeaning {
  return (
    meaningIn(CMS, code) ?? { name: 'reserved', class: code <= NETWORK_CODE_MAX ? 'retry' : 'ambiguous' }
  );
}

/** Returns the meaning of `+CME ERROR: <code>`. */
export function cmeMeaning(code: number): ErrorMeaning {
  return meaningIn(CME, code) ?? { name: 'unlisted', class: 'ambiguous' };
}

function meaningIn(table: Table, code: number): ErrorMeaning | undefined {
  const [errorClass, name] = table[code] ?? [];
  return errorClass === undefined || name === undefined ? undefined : { name, class: errorClass };
}
