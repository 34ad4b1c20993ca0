// Codes of the errors that a modem sends as text (AT+CMEE=2, or firmware without numeric codes).

/** 3GPP TS 27.007 §9.2.1. */
const CME_TEXTS: ReadonlyMap<string, number> = new Map(
  Object.entries({
    'phone failure': 0,
    'no connection to phone': 1,
    'phone-adaptor link reserved': 2,
    'operation not allowed': 3,
    'operation not supported': 4,
    'ph-sim pin required': 5,
    'ph-fsim pin required': 6,
    'ph-fsim puk required': 7,
    'sim not inserted': 10,
    'sim pin required': 11,
    'sim puk required': 12,
    'sim failure': 13,
    'sim busy': 14,
    'sim wrong': 15,
    'incorrect password': 16,
    'sim pin2 required': 17,
    'sim puk2 required': 18,
    'memory full': 20,
    'invalid index': 21,
    'not found': 22,
    'memory failure': 23,
    'no network service': 30,
    'network timeout': 31,
    'network not allowed - emergency calls only': 32,
    'network personalization pin required': 40,
    'network personalization puk required': 41,
  }),
);

/** 3GPP TS 27.005 §3.2.5. */
const CMS_TEXTS: ReadonlyMap<string, number> = new Map(
  Object.entries({
    'me failure': 300,
    'sms service of me reserved': 301,
    'operation not allowed': 302,
    'operation not supported': 303,
    'invalid pdu mode parameter': 304,
    'invalid text mode parameter': 305,
    'sim not inserted': 310,
    'sim pin required': 311,
    'ph-sim pin required': 312,
    'sim failure': 313,
    'sim busy': 314,
    'sim wrong': 315,
    'sim puk required': 316,
    'sim pin2 required': 317,
    'sim puk2 required': 318,
    'memory failure': 320,
    'invalid memory index': 321,
    'memory full': 322,
    'smsc address unknown': 330,
    'no network service': 331,
    'network timeout': 332,
    'no +cnma acknowledgement expected': 340,
  }),
);

/** 3GPP TS 27.007 §9.2.1: unknown. */
const CME_UNKNOWN = 100;
/** 3GPP TS 27.005 §3.2.5: unknown error. */
const CMS_UNKNOWN = 500;

/** Returns the code of an error's number or text; the code of "unknown" for any other text. */
export function errorCodeOf(kind: 'cme' | 'cms', text: string): number {
  if (/^\d{1,5}$/.test(text)) return Number(text);
  if (kind === 'cme') return CME_TEXTS.get(text.toLowerCase()) ?? CME_UNKNOWN;
  return CMS_TEXTS.get(text.toLowerCase()) ?? CMS_UNKNOWN;
}
