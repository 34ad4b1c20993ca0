// `control-plane node add | list | revoke | remove | approve`, and `prune`.
import { nodeNameSchema } from '#shared/link/enrolment.ts';
import { switchOption } from '#shared/process/options.ts';
import { NODES } from '../listings/nodes.ts';
import { fingerprintSchema } from '../procedures/fields.ts';
import { AGREED_OPTION, agree, agreeNaming } from './agreement.ts';
import { listCommand } from './list-command.ts';
import { checked, filterOption, operatorCommand, URL_OPTIONS } from './operator-command.ts';

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
      return `${code}\n\nRun this on the node before ${expires_at}:\n\n  ${enroll}\n\nOr, in a clone of the repository instead of the package:\n\n  npx --no-install ${enroll}\n\nIf the daemon has a data folder of its own, such as that of "node-daemon simulate", add --data-dir. Its log and "node-daemon doctor" print the command with it.\n`;
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
      'Take a node out of service. "node add" with the same name brings it back. Names the customers who lose their service, and asks.',
    options: AGREED_OPTION,
    async run(operator, { yes }, args) {
      const node = nodeOf(args);
      if (!yes) await operator.call('previewRevoke', { node });
      await agreeNaming(operator, `${node} is revoked: its link ends, and it cannot connect again`, {
        of: { node },
        effect: 'lost',
        isAgreed: yes,
      });
      await operator.call('revokeNode', { node });
      return `${node} is revoked: its link ends within a heartbeat, and it cannot connect again`;
    },
  }),
  operatorCommand({
    usage: 'node remove <name>',
    about:
      'Remove a revoked node from all lists, with its slots and events. Its SIMs must hold no subscription. The audit log stays.',
    options: AGREED_OPTION,
    async run(operator, { yes }, args) {
      const node = nodeOf(args);
      if (!yes) await operator.call('previewRemove', { node });
      await agree(`${node} is removed for good, with its slots and events`, yes);
      await operator.call('removeNode', { node });
      return `${node} is removed: its key is unknown, and it cannot connect again`;
    },
  }),
  operatorCommand({
    usage: 'prune',
    about:
      'List the revoked nodes without subscriptions, and the empty slots of nodes that had no link for a day. --yes removes them.',
    options: { yes: switchOption('Remove them') },
    async run(operator, { yes }) {
      const { nodes, slots } = yes ? await operator.call('prune', {}) : await operator.call('prunable', {});
      if (nodes.length + slots.length === 0) return 'Nothing to remove.';
      const lines = [
        ...nodes.map((node) => `node ${node}`),
        ...slots.map(({ node, slot }) => `slot ${node}/${slot}`),
      ];
      return `${yes ? 'Removed' : 'Would be removed'}:\n\n${lines.join('\n')}${
        yes ? '' : '\n\nNothing was done: run "prune --yes" to remove them.'
      }`;
    },
  }),
  operatorCommand({
    usage: 'node approve <name>',
    about:
      'Approve the key of a pending node (ENROLMENT_APPROVAL), or let a node that gets no new SIMs take them again. Compare the fingerprint first.',
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
