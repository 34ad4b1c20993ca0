// Can the configuration file be read, and is it right?
import { ok, problem } from '../../finding.ts';
import type { HostCheck } from '../check.ts';

export const configuration: HostCheck = ({ desk }) => {
  if (desk.configurationProblem === undefined) return ok('read, and nothing is wrong in it');
  return problem(
    desk.configurationProblem.replaceAll('\n', '; '),
    'mend the file: the daemon does not start with it',
  );
};
