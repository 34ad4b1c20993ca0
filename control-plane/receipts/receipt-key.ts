// The key that signs receipts: Ed25519, in a file that only the user of the service can read.
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { calculateJwkThumbprint } from 'jose';
import { writeSecretFile } from '../config/new-secret-file.ts';
import type { PublicJwk } from '../store/database/receipt-tables.ts';

/** The path of the key, by the options of the service. */
export const receiptKeyFileOf = ({
  dataDir,
  receiptKeyFile,
}: {
  dataDir: string;
  receiptKeyFile?: string | undefined;
}): string => receiptKeyFile ?? join(dataDir, 'receipt.key');

export interface ReceiptKey {
  /** RFC 7638 thumbprint. */
  id: string;
  privateKey: KeyObject;
  jwk: PublicJwk;
}

/** The file has no usable key. */
export class ReceiptKeyError extends Error {
  override name = 'ReceiptKeyError';
}

/** Reads the key; undefined if there is no file. Throws `ReceiptKeyError`. */
export async function readReceiptKey(file: string): Promise<ReceiptKey | undefined> {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    throw new ReceiptKeyError(`the key of the receipts cannot be read: ${file}: ${code}`, { cause });
  }
  const privateKey = privateKeyOf(text);
  if (privateKey?.asymmetricKeyType !== 'ed25519')
    throw new ReceiptKeyError(`${file} must contain an Ed25519 private key in PEM (PKCS #8)`);
  const jwk = createPublicKey(privateKey).export({ format: 'jwk' }) as PublicJwk;
  return { id: await calculateJwkThumbprint({ ...jwk }), privateKey, jwk };
}

function privateKeyOf(text: string): KeyObject | undefined {
  try {
    return createPrivateKey(text);
  } catch {
    return undefined;
  }
}

/** Reads the key, or makes it. Throws `ReceiptKeyError`. */
export async function readOrMakeReceiptKey(file: string): Promise<ReceiptKey> {
  const known = await readReceiptKey(file);
  if (known !== undefined) return known;
  const { privateKey } = generateKeyPairSync('ed25519');
  try {
    writeSecretFile(file, String(privateKey.export({ type: 'pkcs8', format: 'pem' })));
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new ReceiptKeyError(`the key of the receipts cannot be written: ${file}: ${code}`, { cause });
  }
  const made = await readReceiptKey(file);
  if (made === undefined) throw new ReceiptKeyError(`the key of the receipts is missing: ${file}`);
  return made;
}
