// `control-plane node add | list | revoke | remove | approve`, and `prune`.
import { nodeNameSchema } from '#shared/link/enrollment.ts';
import { switchOption } from '#shared/process/options.ts';
import type { NodeListing } from '../../nodes/registry.ts';
import { NODES } from '../listings/nodes.ts';
import { fingerprintSchema } from '../procedures/fields.ts';
import { AGREED_OPTION, agree, agreeNaming } from './agreement.ts';
import { listCommand } from './list-command.ts';
import { checked, filterOption, operatorCommand, timeOrDash, URL_OPTIONS } from './operator-command.ts';

const nodeOf = ([name]: readonly string[]): string => checked('name', nodeNameSchema, name);

const keyWarning = ({ name, state, sims, enrolled_at }: NodeListing): string =>
  `${name} exists: ${state}, enrolled on ${timeOrDash(enrolled_at)}, ${sims} ${sims === 1 ? 'SIM' : 'SIMs'}. The code replaces its key: once the code is used, the old key stops working. With ENROLMENT_APPROVAL, the new key works once you approve it; until then the node has no link`;

interface CodeText {
  code: string;
  /** The command that uses it. */
  enroll: string;
  /** When the code expires. */
  until: string;
}

/** The hints stand before the commands: a command is pasted as soon as it is read. */
const codeText = ({ code, enroll, until }: CodeText): string =>
  `${code}

The command below uses the usual data folder. If the daemon has another one, such as that of "node-daemon simulate", add --data-dir. Its log and "node-daemon doctor" print the command with it. If the folder has a key already, add --replace.

Run this on the node before ${until}. It needs the rights of root:

  sudo ${enroll}

Or, in a clone of the repository instead of the package:

  npx --no-install ${enroll}
`;

const guessText = (url: string): string =>
  `No service runs here, so ${url} is only the default. If the service has another URL, write that one in the command below, or give --public-url.

`;

export const NODE_COMMANDS = [
  operatorCommand({
    usage: 'node add <name>',
    about:
      'Print a code that enrolls a node. The code works once, within a day. For a node that has a key, the code replaces it: the command asks for confirmation first.',
    options: { ...URL_OPTIONS, ...AGREED_OPTION },
    // It may come before the service was ever started.
    mayCreate: true,
    async run(operator, { publicUrl, yes }, args) {
      const node = nodeOf(args);
      const known = (await operator.call('nodes', {})).find(({ name }) => name === node);
      if (known?.fingerprint != null && known.state !== 'revoked')
        await agreeNaming(operator, keyWarning(known), { of: { node }, effect: 'served', isAgreed: yes });
      const { code, url, expires_at } = await operator.call('addNode', { node });
      const isGuess = !operator.isService && publicUrl === undefined;
      return `${isGuess ? guessText(url) : ''}${codeText({ enroll: `node-daemon enroll ${url} ${code}`, code, until: expires_at })}`;
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
      'Take a node out of service. "control-plane node add" with the same name brings it back. Names the customers who lose their service, and asks for confirmation.',
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
