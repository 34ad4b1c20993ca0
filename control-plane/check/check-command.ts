// `control-plane check`: reports what is wrong with the service's configuration and surroundings, and what to do about it.
import { FINDING_EXIT_CODES } from '#shared/operator/findings.ts';
import { findingsCommand, REPORT_OPTIONS } from '#shared/operator/findings-command.ts';
import { hasColors, toJson } from '#shared/process/terminal.ts';
import { addressOfText, addressTextSchema } from '../config/address-option.ts';
import { type Config, OPTIONS } from '../config/config.ts';

const { logLevel: _level, logFormat: _format, ...serviceOptions } = OPTIONS;

export const CHECK_COMMAND = findingsCommand({
  usage: 'check',
  about:
    'Check the configuration of the service, and all that it depends on, before its first start or beside it. Changes nothing, and sends no mail, alert or transaction. Exit code: 0 (no problems), 1 (warnings), 2 (problems) or 3 (could not run).',
  options: {
    ...serviceOptions,
    // As it was written: the check of its checksum is a finding.
    payTo: { ...OPTIONS.payTo, schema: addressTextSchema.optional() },
    ...REPORT_OPTIONS,
  },
  async run({ json, verbose, payTo: written, ...given }) {
    const config: Config = {
      ...given,
      payTo: written === undefined ? undefined : addressOfText(written),
      logLevel: 'silent',
      logFormat: 'json',
    };
    // Loads the parts of the service only if the options are valid.
    const { examine } = await import('./examination.ts');
    const { checkTextOf } = await import('./report.ts');
    const report = await examine({ config, writtenPayTo: written });
    const { stdout } = process;
    const text = json
      ? `${toJson(report)}\n`
      : checkTextOf(report, { hasColour: hasColors(stdout), isVerbose: verbose });
    // Without the exit, the process waits for servers that hang.
    stdout.write(text, () => process.exit(FINDING_EXIT_CODES[report.verdict]));
  },
});
