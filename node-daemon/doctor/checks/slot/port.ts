// Does the modem answer?
import { ok, problem, skipped } from '../../finding.ts';
import { answersOf } from '../../modem/slot-view.ts';
import type { SlotCheck } from '../check.ts';

export const port: SlotCheck = (view) => {
  const { modem, place, slot } = view;
  if (answersOf(view) !== undefined) return ok('answers');
  if (slot?.reason === 'absent')
    return problem('no modem is in this slot', 'plug it in, or take the slot out of the configuration file');
  if (place?.reason !== undefined) return skipped('there is no port; see above');
  if (slot?.reason === 'denied') return problem('cannot be opened', 'see who has it, and the rights, above');
  const why = 'why' in modem ? modem.why : 'does not answer';
  return problem(
    why,
    'pull its plug and put it in again: a modem that hangs hears nothing else. If it hangs again soon, look at its power and its cable',
  );
};
