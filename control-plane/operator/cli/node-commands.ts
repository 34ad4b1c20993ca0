// `control-plane node add | list | revoke | approve`.
import { nodeNameSchema } from '#shared/link/enrolment.ts';
import { NODES } from '../listings/nodes.ts';
import { fingerprintSchema } from '../procedures/fields.ts';
import {
  checked,
  filterOption,
  listCommand,
  operatorCommand,
  refuseCutOff,
  URL_OPTIONS,
  YES_OPTION,
} from './operator-command.ts';

const nodeOf = ([name]: readonly string[]): string => checked('name', nodeNameSchema, name);

export const NODE_COMMANDS = [
  operatorCommand({
    usage: 'node add <name>',
    about: 'Print a code that enrolls a node, or enrolls it again. The code works once, within a day.',
    options: URL_OPTIONS,
    // It may come before the service was ever started.
    mayCreate: true,
    async run(operator, _, args) {
      const { code, url, expires_at } = await operator.call('addNode', { node: nodeOf(args) });
      const enroll = `node-daemon enroll ${url} ${code}`;
      return `${code}\n\nRun this on the node before ${expires_at}:\n\n  ${enroll}\n\nOr, in a clone of the repository instead of the package:\n\n  npx --no-install ${enroll}\n`;
    },
  }),
  listCommand({
    usage: 'node list',
    about: 'List the nodes and their status.',
    listing: NODES,
    read: async (operator) => ({ rows: await operator.call('nodes', {}) }),
  }),
  operatorCommand({
    usage: 'node revoke <name>',
    about:
      'Take a node out of service. "node add" with the same name brings it back. Names the customers who lose their service first.',
    options: YES_OPTION,
    async run(operator, { yes }, args) {
      const node = nodeOf(args);
      if (!yes) await refuseCutOff(operator, { node });
      await operator.call('revokeNode', { node });
      return `${node} is revoked: its link ends within a heartbeat, and it cannot connect again`;
    },
  }),
  operatorCommand({
    usage: 'node approve <name>',
    about:
      'Approve the key of a pending node (ENROLMENT_APPROVAL), or let a suspended node take SIMs again. Compare the fingerprint first.',
    options: {
      fingerprint: filterOption('Approve the node only if its key has this fingerprint', fingerprintSchema),
    },
    async run(operator, { fingerprint }, args) {
      const node = nodeOf(args);
      const approved = await operator.call('approveNode', { node, fingerprint });
      return `${node} may connect with the key ${approved.fingerprint}`;
    },
  }),
];
