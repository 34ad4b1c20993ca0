// Operators and nodes that have access to a restored service. They may have been removed since the backup.
import type { Database } from '../store/database/database.ts';

/** Names, sorted. */
export interface RestoredAccess {
  /** Operators of the console. */
  operators: string[];
  /** Nodes whose keys are accepted. */
  nodes: string[];
  /** Nodes whose enrolment codes were voided. */
  voided: string[];
}

/** Voids all enrolment codes, in the transaction of the restore: one that was used since would work again. */
export async function voidCodes(db: Database): Promise<string[]> {
  const rows = await db
    .updateTable('nodes')
    .set({ code_hash: null, code_expires_at: null, code_key: null })
    .where('code_hash', 'is not', null)
    .returning('id')
    .execute();
  return rows.map(({ id }) => id).sort();
}

export async function readAccess(db: Database): Promise<Omit<RestoredAccess, 'voided'>> {
  const operators = await db.selectFrom('operators').select('name').orderBy('name').execute();
  const nodes = await db
    .selectFrom('nodes')
    .select('id')
    .where('public_key', 'is not', null)
    .where('revoked_at', 'is', null)
    .orderBy('id')
    .execute();
  return { operators: operators.map(({ name }) => name), nodes: nodes.map(({ id }) => id) };
}

/** One line for each kind. */
export function accessText({ nodes, operators, voided }: RestoredAccess): string {
  const listed = (names: readonly string[]): string => (names.length === 0 ? 'none' : names.join(', '));
  return [
    `Console operators whose keys are valid: ${listed(operators)}`,
    `Nodes whose keys are valid: ${listed(nodes)}`,
    `Enrolment codes that were voided: ${voided.length === 0 ? 'none' : `${voided.join(', ')}. Run "node add" for new ones`}`,
  ].join('\n');
}
