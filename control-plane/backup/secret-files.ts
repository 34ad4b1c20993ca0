// Reads the passphrase, recipients and identities of a backup from files, the environment or a terminal; never from the command line.
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import * as z from 'zod';
import { secretFileSchema } from '../config/secret-file.ts';
import { OperatorRefusal } from '../domain/refusal.ts';
import type { BackupKey, Lock } from './encryption.ts';

/** Shorter passphrases can be found by brute force. */
const PASSPHRASE_LENGTH_MIN = 8;
const IDENTITY = /^AGE-SECRET-KEY-(PQ-)?1[0-9A-Z]{20,}$/;

const passphraseFile = {
  env: 'BACKUP_PASSPHRASE_FILE',
  about: 'File whose first line is the passphrase; or set BACKUP_PASSPHRASE',
  schema: secretFileSchema.optional(),
};
const passphrase = {
  env: 'BACKUP_PASSPHRASE',
  about: 'The passphrase',
  schema: z.string().optional(),
  isEnvironmentOnly: true as const,
};

/** Options of `backup`. */
export const LOCK_OPTIONS = {
  recipient: {
    env: 'BACKUP_RECIPIENT',
    about: 'Encrypt for these age public keys (age1…), separated by commas',
    schema: z.string().optional(),
  },
  recipientsFile: {
    env: 'BACKUP_RECIPIENTS_FILE',
    about: 'File of age public keys, one per line',
    schema: secretFileSchema.optional(),
  },
  passphraseFile,
  passphrase,
};

/** Options of `restore`. */
export const KEY_OPTIONS = {
  identityFile: {
    env: 'BACKUP_IDENTITY_FILE',
    about: 'File of age-keygen with the private key that decrypts the backup',
    schema: secretFileSchema.optional(),
  },
  passphraseFile,
  passphrase,
};

interface PassphraseOptions {
  readonly passphraseFile: string | undefined;
  readonly passphrase: string | undefined;
}

/**
 * The lock of a backup; undefined if it is not to be encrypted. Any option that names a key asks for encryption, even without `isWanted`.
 * Asks on a terminal for a passphrase if there is none. Throws `OperatorRefusal`.
 */
export async function lockOf(
  options: PassphraseOptions & { recipient: string | undefined; recipientsFile: string | undefined },
  isWanted: boolean,
): Promise<Lock | undefined> {
  const recipients = [...(options.recipient ?? '').split(','), ...linesOf(options.recipientsFile)]
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const secret = passphraseOf(options);
  if (options.recipientsFile !== undefined && recipients.length === 0)
    throw new OperatorRefusal(
      'The file of recipients is empty. It needs an age public key (age1…) on each line.',
    );
  if (recipients.length > 0 && secret !== undefined)
    throw new OperatorRefusal('Give recipients or a passphrase, not both.');
  if (recipients.length > 0) return { recipients };
  if (secret === undefined && !isWanted) return undefined;
  const chosen = secret ?? (await askTwice());
  if (chosen.length < PASSPHRASE_LENGTH_MIN)
    throw new OperatorRefusal(`A passphrase must have ${PASSPHRASE_LENGTH_MIN} characters or more.`);
  return { passphrase: chosen };
}

/** The key of a backup; undefined if none is given. Throws `OperatorRefusal`. */
export function backupKeyOf(
  options: PassphraseOptions & { identityFile: string | undefined },
): BackupKey | undefined {
  const secret = passphraseOf(options);
  if (options.identityFile === undefined) return secret === undefined ? undefined : { passphrase: secret };
  if (secret !== undefined) throw new OperatorRefusal('Give an identity or a passphrase, not both.');
  const identities = linesOf(options.identityFile);
  if (identities.length === 0 || !identities.every((line) => IDENTITY.test(line)))
    throw new OperatorRefusal(
      'The identity file needs lines that begin with AGE-SECRET-KEY-1. Decrypt an encrypted identity file first.',
    );
  return { identities };
}

function passphraseOf({ passphrase: given, passphraseFile: file }: PassphraseOptions): string | undefined {
  if (given !== undefined && file !== undefined)
    throw new OperatorRefusal('Give only one of BACKUP_PASSPHRASE and --passphrase-file.');
  const secret = given ?? file?.split(/\r?\n/)[0];
  if (secret === '')
    throw new OperatorRefusal('The passphrase is empty. Set BACKUP_PASSPHRASE or --passphrase-file.');
  return secret;
}

/** Without comments and empty lines. */
const linesOf = (text = ''): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));

async function askTwice(): Promise<string> {
  const once = await askPassphrase('passphrase: ');
  if (once !== (await askPassphrase('again: ')))
    throw new OperatorRefusal('The passphrases differ. Type the same passphrase twice.');
  return once;
}

/** Asks on the terminal, without echo. Throws `OperatorRefusal` if there is no terminal. */
export async function askPassphrase(question: string): Promise<string> {
  if (!process.stdin.isTTY)
    throw new OperatorRefusal(
      'No passphrase. Give --passphrase-file, BACKUP_PASSPHRASE or recipients, or run the command on a terminal.',
    );
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  // Stops the terminal's echo at once, so that quickly typed or pasted characters do not show.
  const terminal = createInterface({ input: process.stdin, output: silent, terminal: true });
  process.stderr.write(question);
  try {
    return await new Promise<string>((resolve, reject) => {
      terminal.once('SIGINT', () => reject(new OperatorRefusal('Interrupted.')));
      terminal.once('close', () => reject(new OperatorRefusal('No passphrase was given.')));
      terminal.question('').then(resolve, reject);
    });
  } finally {
    terminal.close();
    process.stderr.write('\n');
  }
}
