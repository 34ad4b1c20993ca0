// `control-plane backup <file>` and `restore <file>`: all that the service keeps, to a file and back.
import { programCommand } from '#shared/process/commands.ts';
import { switchOption } from '#shared/process/options.ts';
import { KEY_OPTIONS, LOCK_OPTIONS } from '../../backup/secret-files.ts';
import { OPTIONS } from '../../config/config.ts';

const { databaseUrl, dataDir, pinKeyFile, receiptKeyFile } = OPTIONS;
const PLACE = { databaseUrl, dataDir };

export const BACKUP_COMMANDS = [
  programCommand({
    usage: 'backup <file>',
    about:
      'Write all data of the service into one file, whether the service runs or not; - is standard output.',
    options: {
      ...PLACE,
      encrypt: switchOption(
        'Encrypt the file (age), with a passphrase or for recipients; asks for a passphrase if none is given',
      ),
      ...LOCK_OPTIONS,
    },
    run: async (options, [file = '']) => (await import('../backups.ts')).backUpTo(file, options),
  }),
  programCommand({
    usage: 'restore <file>',
    about: 'Fill a new, empty database from a backup, while no service uses it; - is standard input.',
    options: { ...PLACE, pinKeyFile, receiptKeyFile, ...KEY_OPTIONS },
    run: async (options, [file = '']) => (await import('../backups.ts')).restoreFrom(file, options),
  }),
];
