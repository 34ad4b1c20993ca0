// `control-plane fleet …`: the cards of the whole fleet, from one file.
import { OperatorError } from '#shared/operator/operator-error.ts';
import { switchOption } from '#shared/process/options.ts';
import { toJson } from '#shared/process/terminal.ts';
import { OPTIONS } from '../../config/config.ts';
import type { Operator } from '../procedures/all-procedures.ts';
import { cardTextSchema } from '../procedures/fields.ts';
import { AGREED_OPTION, agree } from './agreement.ts';
import { checked, JSON_OPTION, operatorCommand } from './operator-command.ts';

type Diff = Awaited<ReturnType<typeof planOf>>;
const planOf = (operator: Operator, cards: Parameters<typeof applyOf>[1]) =>
  operator.call('planFleet', { cards });
const applyOf = (operator: Operator, cards: Awaited<ReturnType<typeof cardsOf>>, expected: string) =>
  operator.call('applyFleet', { cards, expected });

async function cardsOf(path: string) {
  const { readFleetFile } = await import('../fleet-file/read-fleet-file.ts');
  return readFleetFile(path);
}

export const FLEET_COMMANDS = [
  operatorCommand({
    usage: 'fleet apply <file>',
    about:
      'Set numbers, PINs, labels, carriers, plans and costs of SIM cards from a YAML or CSV file. Show the difference first. If a line is wrong, change nothing and list the wrong lines.',
    options: {
      dryRun: switchOption('Show the difference, and change nothing'),
      ...AGREED_OPTION,
      json: JSON_OPTION,
      pinKeyFile: OPTIONS.pinKeyFile,
    },
    async run(operator, { dryRun, json, yes }, [file]) {
      const path = String(file);
      const { cards, diff } = await withPlaces(path, async () => {
        const cards = await cardsOf(path);
        return { cards, diff: await planOf(operator, cards) };
      });
      const isNothing = diff.changes.length === 0;
      if (dryRun || isNothing) return json ? toJson({ ...diff, applied: false }) : shownDiff(diff, path);
      await agree(shownDiff(diff, path), yes);
      await withPlaces(path, () => applyOf(operator, cards, diff.digest));
      if (json) return toJson({ ...diff, applied: true });
      return yes ? `${shownDiff(diff, path)}\napplied` : 'applied';
    },
  }),
  operatorCommand({
    usage: 'fleet drop <card>',
    about:
      'Forget a card that has left the fleet: its label, carrier, plan, cost and PIN. Retire its number first. The card is an ICCID, or the slot that it is in, as node/slot.',
    async run(operator, _, [text]) {
      const iccid = await operator.call('dropCard', { card: checked('card', cardTextSchema, text) });
      return `${iccid} is dropped; the reports of past months keep it`;
    },
  }),
  operatorCommand({
    usage: 'fleet retry-pin <card>',
    about:
      'Send the PIN of the fleet file to the node once more, after the alert sim_pin. For a PIN that was right; correct a wrong one in the file instead. The card is an ICCID, or the slot that it is in, as node/slot.',
    async run(operator, _, [text]) {
      const iccid = await operator.call('retryPin', { card: checked('card', cardTextSchema, text) });
      return `the service sends the PIN of ${iccid} again once the card is in a linked node and asks for it; a node does not enter a PIN that the card has refused`;
    },
  }),
];

/** Problems begin with "fleet.yaml:7: ", as compilers write them, instead of "line 7: ". */
async function withPlaces<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    const message = error.message.replace(/^line (\d+): /gm, (_, line) => `${path}:${line}: `);
    throw new OperatorError(error.reason, message, error);
  }
}

function shownDiff({ changes, notes, others, unchanged }: Diff, path: string): string {
  const cards = changes.map(({ fields, iccid, isNew }) =>
    [
      `${isNew ? '+' : '~'} ${iccid}`,
      ...fields.map(({ field, from, to }) =>
        isNew && from === null ? `    ${field}: ${to}` : `    ${field}: ${from ?? '-'} -> ${to ?? '-'}`,
      ),
    ].join('\n'),
  );
  const added = changes.filter(({ isNew }) => isNew).length;
  const sum = `${added} new, ${changes.length - added} changed, ${unchanged} unchanged`;
  const rest =
    others === 0
      ? ''
      : `; ${others} other ${others === 1 ? 'card stays as it is' : 'cards stay as they are'}`;
  const noted = notes.map(({ line, text }) => `${path}:${line}: note: ${text}`);
  return [...cards, ...noted, `${sum}${rest}`].join('\n');
}
