// `control-plane backup <file>` and `restore <file>`: all that the service keeps, to a file and back.
import { programCommand } from '#shared/process/commands.ts';
import { switchOption } from '#shared/process/options.ts';
import { KEY_OPTIONS, LOCK_OPTIONS } from '../backup/secret-files.ts';
import { OPTIONS } from '../config.ts';

const { databaseUrl, dataDir } = OPTIONS;
const PLACE = { databaseUrl, dataDir };

export const BACKUP_COMMANDS = [
  programCommand({
    usage: 'backup <file>',
    about:
      'writes all that the service keeps into one file, beside the running service or without it; - is standard output',
    options: {
      ...PLACE,
      encrypt: switchOption(
        'encrypt it (age), with a passphrase or for recipients; asks for a passphrase where none is given',
      ),
      ...LOCK_OPTIONS,
    },
    run: async (options, [file = '']) => (await import('./backups.ts')).backUpTo(file, options),
  }),
  programCommand({
    usage: 'restore <file>',
    about: 'fills a new, empty database from a backup; no service may run on it; - is standard input',
    options: { ...PLACE, ...KEY_OPTIONS },
    run: async (options, [file = '']) => (await import('./backups.ts')).restoreFrom(file, options),
  }),
];
