// A command that examines an installation, prints its findings, and exits with the worst verdict.
import { type AnyCommand, type ProgramCommand, programCommand } from '../process/commands.ts';
import { type Specs, switchOption } from '../process/options.ts';
import { FINDING_EXIT_CODES } from './findings.ts';

/** The options that all such commands have. */
export const REPORT_OPTIONS = {
  json: switchOption('Print the report as JSON'),
  verbose: switchOption('Also show the checks that passed or were skipped'),
};

export function findingsCommand<S extends Specs>(spec: ProgramCommand<S>): AnyCommand {
  const findings = programCommand(spec);
  return {
    ...findings,
    build(command) {
      // Exit code 1 would mean warnings, which bad options are not.
      command.exitOverride(({ exitCode }) =>
        process.exit(exitCode === 0 ? 0 : FINDING_EXIT_CODES.couldNotRun),
      );
      findings.build(command);
    },
  };
}
