// `node-daemon enrol <url> <code>`: what an operator pastes on the node.
import { programCommand } from '#shared/process/commands.ts';
import { daemonOptions, dataDirOf } from '../config.ts';
import { enrol } from './enrol.ts';

const { config, dataDir, defaultDataDir } = daemonOptions;

export const ENROL_COMMAND = programCommand({
  usage: 'enrol <url> <code>',
  about: 'enrols this node with a code from "control-plane node add <name>"; the daemon may be running',
  options: { config, dataDir, defaultDataDir },
  async run(options, [url = '', code = '']) {
    if (/^http:\/\/(?!(localhost|127\.|\[::1\]))/i.test(url)) {
      process.stderr.write(
        'warning: http without TLS: whoever listens can read the code and your messages\n',
      );
    }
    const folder = dataDirOf(options);
    const { nodeId, fingerprint, isPending } = await enrol({ folder, url, code });
    const next = isPending
      ? `it connects once the operator has run "control-plane node approve ${nodeId}" and found the same fingerprint there`
      : `a daemon on ${folder} connects within seconds`;
    process.stdout.write(`enrolled as ${nodeId}, key ${fingerprint}; ${next}\n`);
  },
});
