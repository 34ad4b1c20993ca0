// Finds the diagnosis of a make of modems.
import { HUAWEI } from '../../profiles/huawei.ts';
import type { ModemProfile } from '../../profiles/profile.ts';
import { QUECTEL } from '../../profiles/quectel.ts';
import { SIMCOM } from '../../profiles/simcom.ts';
import { HUAWEI_DIAGNOSIS } from './huawei-diagnosis.ts';
import { GENERIC_DIAGNOSIS, type MakeDiagnosis } from './make-diagnosis.ts';
import { QUECTEL_DIAGNOSIS } from './quectel-diagnosis.ts';
import { SIMCOM_DIAGNOSIS } from './simcom-diagnosis.ts';

const DIAGNOSES: ReadonlyMap<ModemProfile, MakeDiagnosis> = new Map([
  [QUECTEL, QUECTEL_DIAGNOSIS],
  [SIMCOM, SIMCOM_DIAGNOSIS],
  [HUAWEI, HUAWEI_DIAGNOSIS],
]);

/** Returns the diagnosis of this profile's make. */
export const diagnosisOf = (profile: ModemProfile): MakeDiagnosis =>
  DIAGNOSES.get(profile) ?? GENERIC_DIAGNOSIS;
