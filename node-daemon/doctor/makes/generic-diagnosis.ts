// The diagnosis of a modem whose make is unknown: doctor sends it standard queries only.
import { skipped } from '../report/finding.ts';
import type { MakeDiagnosis } from './make-diagnosis.ts';

export const GENERIC_DIAGNOSIS: MakeDiagnosis = {
  questions: [],
  audioSettings: () => skipped('doctor knows no query for it on this make'),
  isVolteOn: () => undefined,
  volteAdvice: 'Turn VoLTE on as the manual describes, or use a SIM that may use 2G or 3G.',
  isGpsApart: () => undefined,
  gpsAdvice: 'Turn the GPS receiver off, or move its output to another port, as the manual describes.',
};
