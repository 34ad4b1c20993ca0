// Any modem that keeps to the standard: no more than that can be asked.
import { skipped } from '../report/finding.ts';
import type { MakeDiagnosis } from './make-diagnosis.ts';

export const GENERIC_DIAGNOSIS: MakeDiagnosis = {
  questions: [],
  audioSettings: () => skipped('this make has no query for it'),
  isVolteOn: () => undefined,
  volteAdvice: 'switch VoLTE on as its manual says, or use a SIM that may use 2G or 3G',
  isGpsApart: () => undefined,
  gpsAdvice: 'switch its GPS receiver off, or move it to another port, as its manual says',
};
