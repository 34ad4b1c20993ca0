// Operators and nodes that have access to a restored service. They may have been removed since the backup.
import { ownCommand } from '#shared/process/own-command.ts';
import type { Database } from '../store/database/database.ts';

/** Names, sorted. */
export interface RestoredAccess {
  /** Operators of the console. */
  operators: string[];
  /** Nodes whose keys are accepted. */
  nodes: string[];
  /** Nodes whose keys wait for an operator's approval. */
  pending: string[];
  /** Nodes without a valid key whose unused enrollment codes were voided. */
  voided: string[];
}

/** Voids all enrollment codes, in the transaction of the restore: one that was used since would work again. */
export async function voidCodes(db: Database): Promise<string[]> {
  const waiting = await db
    .selectFrom('nodes')
    .select('id')
    .where('code_hash', 'is not', null)
    .where('code_key', 'is', null)
    .where((eb) => eb.or([eb('public_key', 'is', null), eb('revoked_at', 'is not', null)]))
    .execute();
  await db
    .updateTable('nodes')
    .set({ code_hash: null, code_expires_at: null, code_key: null })
    .where('code_hash', 'is not', null)
    .execute();
  return waiting.map(({ id }) => id).sort();
}

export async function readAccess(db: Database): Promise<Omit<RestoredAccess, 'voided'>> {
  const operators = await db.selectFrom('operators').select('name').orderBy('name').execute();
  const nodes = await db
    .selectFrom('nodes')
    .select(['id', 'approval_pending_since'])
    .where('public_key', 'is not', null)
    .where('revoked_at', 'is', null)
    .orderBy('id')
    .execute();
  const ids = (isPending: boolean): string[] =>
    nodes.filter((node) => (node.approval_pending_since !== null) === isPending).map(({ id }) => id);
  return { operators: operators.map(({ name }) => name), nodes: ids(false), pending: ids(true) };
}

/** One line for each kind. */
export function accessText({ nodes, operators, pending, voided }: RestoredAccess): string {
  const listed = (names: readonly string[]): string => (names.length === 0 ? 'none' : names.join(', '));
  return [
    `Console operators whose keys are valid: ${listed(operators)}`,
    `Nodes whose keys are valid: ${listed(nodes)}`,
    ...(pending.length === 0
      ? []
      : [
          `Nodes whose keys wait for your approval: ${pending.join(', ')}. Run "${ownCommand('control-plane')} node approve" for each`,
        ]),
    `Unused enrollment codes that were voided: ${voided.length === 0 ? 'none' : `${voided.join(', ')}. Run "${ownCommand('control-plane')} node add" for new ones`}`,
  ].join('\n');
}
