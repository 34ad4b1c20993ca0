// Is the audio of calls set up as the daemon takes it, its rate above all?
import { diagnosisOf } from '../../makes/find-diagnosis.ts';
import { modemCheck } from '../check.ts';

export const audioSettings = modemCheck((modem) => diagnosisOf(modem.profile).audioSettings(modem));
