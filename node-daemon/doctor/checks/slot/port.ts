// Does the modem answer?
import { ok, problem, skipped } from '../../finding.ts';
import { answersOf } from '../../modem/slot-view.ts';
import type { SlotCheck } from '../check.ts';

export const port: SlotCheck = (view) => {
  const { modem, nodes, place, slot } = view;
  if (answersOf(view) !== undefined) return ok('answers');
  if (slot?.reason === 'absent')
    return problem('no modem is in this slot', 'plug it in, or take the slot out of the configuration file');
  if (place?.reason !== undefined) return skipped('there is no port; see above');
  if (slot?.reason === 'denied') return problem('cannot be opened', 'see who has it, and the rights, above');
  const { why, wasTried } = 'why' in modem ? modem : { why: 'does not answer', wasTried: true };
  if (!wasTried) return skipped(why);
  // Of a device that is in no slot nobody tells that it could not be opened.
  const locker =
    slot === undefined ? nodes.flatMap(({ holders }) => holders).find(({ hasLock }) => hasLock) : undefined;
  if (locker !== undefined) return skipped(`was not asked: ${locker.name} (pid ${locker.pid}) has it`);
  return problem(
    why,
    'pull its plug and put it in again: a modem that hangs hears nothing else. If it hangs again soon, look at its power and its cable',
  );
};
