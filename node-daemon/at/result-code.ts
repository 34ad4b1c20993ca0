// Final result codes: the lines that end a command (V.250 §5.7.1, 3GPP TS 27.007 §9.2, 27.005 §3.2.5).

/** What a final result code says. */
export type FinalResult =
  | { readonly kind: 'ok' }
  | { readonly kind: 'error' }
  | { readonly kind: 'cme'; readonly code: number }
  | { readonly kind: 'cms'; readonly code: number };

/** 3GPP TS 27.007 §9.2.1: unknown. Stands for errors told as text (AT+CMEE=2). */
const CME_UNKNOWN = 100;
/** 3GPP TS 27.005 §3.2.5: unknown error. */
const CMS_UNKNOWN = 500;

/**
 * Reads a line as a final result code; `undefined` when it is none. Call codes (NO CARRIER, BUSY, …)
 * are none: they also come unsolicited, in the middle of other commands.
 */
export function parseFinalResult(line: string): FinalResult | undefined {
  if (line === 'OK') return { kind: 'ok' };
  // Observed: Huawei E17x answers "COMMAND NOT SUPPORT", and "ERROR+CNUM:" on one line.
  if (/^ERROR(?=\+|\s*$)/.test(line) || line === 'COMMAND NOT SUPPORT') return { kind: 'error' };
  const match = /^\+(CME|CMS) ERROR:\s*(.*?)\s*$/.exec(line);
  if (match === null) return undefined;
  const code = /^\d{1,5}$/.test(match[2] ?? '') ? Number(match[2]) : undefined;
  return match[1] === 'CME'
    ? { kind: 'cme', code: code ?? CME_UNKNOWN }
    : { kind: 'cms', code: code ?? CMS_UNKNOWN };
}
