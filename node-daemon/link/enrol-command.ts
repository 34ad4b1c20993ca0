// `node-daemon enrol <url> <code>`: the command that an operator pastes on the node.
import { programCommand } from '#shared/process/commands.ts';
import { switchOption } from '#shared/process/options.ts';
import { onLines } from '#shared/process/terminal.ts';
import { daemonOptions, dataDirOf } from '../config/options.ts';
import { enrol } from './enrol.ts';

const { config, dataDir, defaultDataDir } = daemonOptions;

export const ENROL_COMMAND = programCommand({
  usage: 'enrol <url> <code>',
  about: 'Enroll this node with a code from "control-plane node add <name>". The daemon may be running.',
  options: {
    config,
    dataDir,
    defaultDataDir,
    insecure: switchOption(
      'Allow URLs without TLS (http, ws) to other hosts, now and for the daemon; anyone on the network can then read and change all traffic',
    ),
  },
  async run(options, [url = '', code = '']) {
    const folder = dataDirOf(options);
    const isInsecure = options.insecure;
    const { nodeId, fingerprint, isPending } = await enrol({ folder, url, code, isInsecure });
    const next = isPending
      ? `it connects once the operator has run "control-plane node approve ${nodeId}" and compared the key's fingerprint`
      : `the daemon of ${folder} connects within seconds`;
    process.stdout.write(`${onLines(`enrolled as ${nodeId}, key ${fingerprint}; ${next}`)}\n`);
  },
});
