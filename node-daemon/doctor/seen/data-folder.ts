// Reads the state of the daemon's data folder: whether it is writable, and its free space.
import { constants, type Stats, statSync } from 'node:fs';
import { access } from 'node:fs/promises';
import { type Room, readRoom } from '../../journal/disk-room.ts';
import {
  type Identity,
  type IdentityRecord,
  identityPath,
  isRefusedPlain,
  readIdentityRecord,
} from '../../link/identity.ts';

export interface DataFolder extends Room {
  readonly path: string;
  /** `foreign`: it belongs to another user, and this user cannot read it. */
  readonly state: 'writable' | 'missing' | 'foreign' | 'read_only' | 'no_folder';
  /** User id of the owner; `undefined` when the folder is missing. */
  readonly uid: number | undefined;
}

/** The identity of this node, if this user may read it. */
export type Enrollment =
  | ({ readonly kind: 'enrolled' | 'refused_plain' } & Pick<Identity, 'nodeId' | 'controlPlaneUrl'>)
  | { readonly kind: 'not_enrolled' | 'damaged' | 'foreign' };

/** Never rejects. */
export async function readDataFolder(path: string): Promise<DataFolder> {
  const stat = statOf(path);
  const room = await readRoom(path);
  if (typeof stat === 'string') {
    return { path, state: stat === 'EACCES' ? 'foreign' : 'missing', uid: undefined, ...room };
  }
  if (!stat.isDirectory()) return { path, state: 'no_folder', uid: stat.uid, ...room };
  const denial = await access(path, constants.R_OK | constants.W_OK | constants.X_OK).then(
    () => undefined,
    ({ code }: NodeJS.ErrnoException) => code,
  );
  const state = denial === undefined ? 'writable' : denial === 'EROFS' ? 'read_only' : 'foreign';
  return { path, state, uid: stat.uid, ...room };
}

/** Never throws. */
export function readEnrollment(folder: string): Enrollment {
  try {
    return enrollmentOf(readIdentityRecord(identityPath(folder)));
  } catch (error) {
    return { kind: (error as NodeJS.ErrnoException).code === 'EACCES' ? 'foreign' : 'damaged' };
  }
}

function enrollmentOf(record: IdentityRecord | undefined): Enrollment {
  if (record === undefined) return { kind: 'not_enrolled' };
  const kind = isRefusedPlain(record) ? 'refused_plain' : 'enrolled';
  return { kind, nodeId: record.node_id, controlPlaneUrl: record.control_plane_url };
}

function statOf(path: string): Stats | string {
  try {
    return statSync(path);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'unknown';
  }
}
