// Reads final result codes: the lines that end a command (V.250 §5.7.1, 3GPP TS 27.007 §9.2, 27.005 §3.2.5).
import { errorCodeOf } from './error-text.ts';

/** The result of a call command (V.250 §5.7.1). CONNECT is success. */
export type CallResult = 'CONNECT' | 'NO CARRIER' | 'BUSY' | 'NO ANSWER' | 'NO DIALTONE';

/** The meaning of a final result code. */
export type FinalResult =
  | { readonly kind: 'ok' }
  | { readonly kind: 'error'; readonly trailing?: string }
  | { readonly kind: 'cme' | 'cms'; readonly code: number; readonly trailing?: string }
  | { readonly kind: 'call'; readonly result: CallResult };

/**
 * Reads a line as a final result code. Returns `undefined` for any other line, and for call codes, because
 * these also come unsolicited during other commands. Observed, Huawei E17x: "COMMAND NOT SUPPORT", and an
 * information response on the same line as the code, "ERROR+CNUM: …".
 */
export function parseFinalResult(line: string): FinalResult | undefined {
  if (line === 'OK') return { kind: 'ok' };
  if (line === 'ERROR' || line === 'COMMAND NOT SUPPORT') return { kind: 'error' };
  const plain = /^ERROR([+^].*)$/.exec(line);
  if (plain !== null) return { kind: 'error', trailing: plain[1] ?? '' };
  const match = /^\+(CME|CMS) ERROR:\s*(?:(\d{1,5})([+^].*)|(.*))$/.exec(line);
  if (match === null) return undefined;
  const [, name, digits, trailing, text = ''] = match;
  const kind = name === 'CME' ? 'cme' : 'cms';
  const code = errorCodeOf(kind, digits ?? text.trim());
  return trailing === undefined ? { kind, code } : { kind, code, trailing };
}

/** Reads a line as the end of a call command. Returns `undefined` for any other line. CONNECT may include a rate. */
export function parseCallResult(line: string): FinalResult | undefined {
  const match = /^(CONNECT)(?: .*)?$|^(NO CARRIER|BUSY|NO ANSWER|NO DIALTONE)$/.exec(line);
  const result = match?.[1] ?? match?.[2];
  return result === undefined ? undefined : { kind: 'call', result: result as CallResult };
}
