// `node-daemon doctor`: reports the problems of this host and its modems, and what to do about them.
import { FINDING_EXIT_CODES } from '#shared/operator/findings.ts';
import { findingsCommand, REPORT_OPTIONS } from '#shared/operator/findings-command.ts';
import { ConfigFileError } from '#shared/process/config-file.ts';
import { switchOption } from '#shared/process/options.ts';
import { hasColors, toJson } from '#shared/process/terminal.ts';
import { ConfigDeniedError } from '../config/config-file.ts';
import { DEFAULT_CONFIG } from '../config/node-config.ts';
import { type DaemonSettings, daemonOptions, joinedSettings, settingsOf } from '../config/options.ts';

const { logLevel: _, ...options } = daemonOptions;

export const DOCTOR_COMMAND = findingsCommand({
  usage: 'doctor',
  about:
    'Examine this host, its modems and its link. Report what is wrong and what to do. Exit code: 0 (no problems), 1 (warnings), 2 (problems), 3 (could not run) or 137 (a port hung; the report was printed before).',
  options: {
    ...options,
    ...REPORT_OPTIONS,
    loopTest: switchOption(
      'Play a tone into modems that can loop it back, even while a daemon runs; this disturbs a call for a second',
    ),
  },
  async run({ json, loopTest, verbose, ...given }) {
    const { settings, configurationProblem } = readSettings({ ...given, logLevel: undefined });
    // Loads the parts of the daemon only if the options are valid.
    const { examineRack } = await import('./examine-rack.ts');
    const { doctorTextOf } = await import('./report/report.ts');
    const { stdout } = process;
    const hasColour = hasColors(stdout);
    await examineRack(settings, { configurationProblem, playsTones: loopTest }, (report) => {
      stdout.write(json ? `${toJson(report)}\n` : doctorTextOf(report, { hasColour, isVerbose: verbose }));
      process.exitCode = FINDING_EXIT_CODES[report.verdict];
    });
    // Without this, the process waits minutes for a daemon that hangs.
    process.exit();
  },
});

/** An error in the configuration file is a finding. Doctor then examines the host without the file. */
function readSettings(given: Parameters<typeof settingsOf>[0]): {
  settings: DaemonSettings;
  configurationProblem: string | undefined;
} {
  try {
    return { settings: settingsOf(given), configurationProblem: undefined };
  } catch (error) {
    if (!(error instanceof ConfigFileError) || error instanceof ConfigDeniedError) throw error;
    return { settings: joinedSettings(given, DEFAULT_CONFIG), configurationProblem: error.message };
  }
}
