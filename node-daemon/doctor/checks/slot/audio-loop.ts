// Does a tone that is played into the modem come back?
import { ok, problem, skipped, warning } from '../../finding.ts';
import { modemCheck } from '../check.ts';

const LISTEN = 'call the number of this slot and listen, before you trust its audio';

export const audioLoop = modemCheck((_, { loop }) => {
  switch (loop.kind) {
    case 'not_done':
      return skipped(loop.why);
    case 'back':
      return ok('a tone came back unchanged');
    case 'silence':
      return warning('nothing came back: some firmware loops in calls only', LISTEN);
    case 'noise':
      return problem(
        'what came back is not the tone that was played',
        `the rate of the port is not what it is taken for, or octets are lost: ${LISTEN}`,
      );
  }
});
