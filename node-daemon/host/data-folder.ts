// The data folder of a host, which contains its journal.
import type { Clock } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import { lockFolder } from '#shared/process/single-instance.ts';
import { Journal } from '../journal/journal.ts';
import { concludeUnfinished } from '../modem/sms/unfinished-commands.ts';
import { refuseOthersFolder } from '../system/file-owners.ts';

/** A data folder in exclusive use. */
interface DataFolder {
  readonly journal: Journal;
  /** Closes the journal and releases the folder. Call it when all appends have ended. */
  close(): Promise<void>;
}

/**
 * Locks the folder, opens its journal, and concludes the commands that an earlier process left unfinished. `holder` names this program in
 * the errors of others. Throws `FolderInUseError`, `OthersFolderError`.
 */
export async function openDataFolder(
  dataDir: string,
  { clock, log, holder }: { clock: Clock; log: Logger; holder: string },
): Promise<DataFolder> {
  refuseOthersFolder(dataDir);
  const unlock = await lockFolder(dataDir, 'node-daemon', 0o700, holder);
  const journal = await Journal.open({ folder: dataDir, clock, log }).catch(async (error) => {
    await unlock();
    throw error;
  });
  await concludeUnfinished({ journal, clock, log });
  return {
    journal,
    async close() {
      await journal.close();
      await unlock();
    },
  };
}
