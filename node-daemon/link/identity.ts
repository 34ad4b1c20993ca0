// The identity of this node: its key, its name and its control plane, in one file that is replaced atomically.
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  type KeyObject,
  randomBytes,
  sign,
} from 'node:crypto';
import {
  closeSync,
  fchownSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import * as z from 'zod';
import type { Clock, Timer } from '#shared/clock.ts';
import { nodeNameSchema, showFingerprint } from '#shared/link/enrollment.ts';
import { type ProofClaim, showProof, textToSign } from '#shared/link/proof.ts';
import type { Logger } from '#shared/log.ts';
import { isLoopback } from '#shared/loopback.ts';
import { syncFolderSync } from '#shared/process/sync-folder.ts';

/** `enroll` may replace the file while the daemon runs. The daemon must notice it within seconds. */
const POLL_MS = 1_000;

const FILE_NAME = 'identity.json';

const fileSchema = z.object({
  node_id: nodeNameSchema,
  control_plane_url: z.url(),
  /** Ed25519, PKCS #8 in PEM (RFC 8410). It never leaves this file. */
  private_key: z.string(),
  /** SHA-256 of the enrollment code, so that a repetition of the same command is the same enrollment. */
  code_sha256: z.string(),
  /** Whether the node was enrolled with --insecure, which allows URLs without TLS to other hosts. */
  insecure: z.boolean().default(false),
});
export type IdentityRecord = z.input<typeof fileSchema>;

export interface Identity {
  readonly nodeId: string;
  /** Base URL, http or https. */
  readonly controlPlaneUrl: string;
  readonly key: KeyObject;
  /** Whether URLs without TLS to other hosts are allowed. */
  readonly isInsecure?: boolean;
}

/** The source of a link's identity. */
export interface IdentitySource {
  /** Undefined until the node is enrolled. */
  readonly current: Identity | undefined;
  /** `handler` is called after `current` changed. */
  onChange(handler: () => void): void;
}

class IdentityError extends Error {
  override name = 'IdentityError';
}

export const identityPath = (folder: string): string => join(folder, FILE_NAME);

/** Reads the identity file of a folder. Returns undefined if there is none. Throws `IdentityError` if it is damaged. */
export function readIdentityRecord(path: string): IdentityRecord | undefined {
  try {
    return parseRecord(path, readFileSync(path, 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Returns the node name of a folder; null if it is not enrolled. */
export function nodeNameOf(folder: string): string | null {
  try {
    return readIdentityRecord(identityPath(folder))?.node_id ?? null;
  } catch {
    return null;
  }
}

/**
 * Writes `record` atomically: after a crash the file has the new or the old contents. Throws `IdentityError`, which names the file.
 */
export function writePrivateFile(path: string, record: object): void {
  try {
    writeWhole(path, record);
  } catch (cause) {
    const { code = '', message } = cause as NodeJS.ErrnoException;
    throw new IdentityError(`Cannot write ${path}: ${WRITE_TROUBLES[code] ?? message} (${code})`, {
      cause,
    });
  }
}

const WRITE_TROUBLES: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EROFS: 'the disk is read-only',
  EACCES: 'permission denied; run the command as the owner of the folder, or with sudo',
  EPERM: 'permission denied; run the command as the owner of the folder, or with sudo',
};

function writeWhole(path: string, record: object): void {
  const next = `${path}.new`;
  rmSync(next, { force: true });
  const file = openSync(next, 'wx', 0o600);
  try {
    // Root enrolls the node for the daemon that owns the folder.
    const { gid, uid } = statSync(dirname(path));
    if (process.getuid?.() === 0) fchownSync(file, uid, gid);
    writeSync(file, `${JSON.stringify(record, null, 2)}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(next, path);
  syncFolderSync(dirname(path));
}

/** The identity in a node's folder, which is read again whenever its file changes. */
export class IdentityFile implements IdentitySource {
  readonly #path: string;
  readonly #clock: Clock;
  readonly #log: Logger;
  #text: string | undefined;
  #current: Identity | undefined;
  #handler: () => void = () => undefined;
  #timer: Timer | undefined;
  #isClosed = false;

  constructor({ folder, clock, log }: { folder: string; clock: Clock; log: Logger }) {
    this.#path = identityPath(folder);
    this.#clock = clock;
    this.#log = log;
  }

  get current(): Identity | undefined {
    return this.#current;
  }

  onChange(handler: () => void): void {
    this.#handler = handler;
  }

  /** Reads the file repeatedly until `close`. Resolves after the first time. */
  async open(): Promise<void> {
    await this.#read();
    this.#schedule();
  }

  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
  }

  #schedule(): void {
    if (this.#isClosed) return;
    this.#timer = this.#clock.after(POLL_MS, () => void this.#read().then(() => this.#schedule()));
  }

  async #read(): Promise<void> {
    const text = await readFile(this.#path, 'utf8').catch((error: NodeJS.ErrnoException) =>
      error.code === 'ENOENT' ? undefined : error,
    );
    // A read error does not change the node's identity.
    if (text instanceof Error) {
      this.#log.error({ err: text }, 'failed to read this node’s identity');
      return;
    }
    if (text === this.#text) return;
    this.#text = text;
    try {
      this.#current = text === undefined ? undefined : this.#usable(parseRecord(this.#path, text));
    } catch (error) {
      this.#log.error({ err: error }, 'this node’s identity is damaged: enroll it again');
      this.#current = undefined;
    }
    this.#handler();
  }

  #usable(record: IdentityRecord): Identity | undefined {
    if (!isRefusedPlain(record)) return toIdentity(record);
    this.#log.error(
      { controlPlaneUrl: record.control_plane_url },
      'not connecting: the control plane has no TLS, and this node was not enrolled with --insecure. Enroll it again with the https:// URL or with --insecure',
    );
    return undefined;
  }
}

/** Returns whether the control plane's URL must not be used: it has no TLS, and the node was not enrolled with --insecure. */
export const isRefusedPlain = ({ control_plane_url: url, insecure = false }: IdentityRecord): boolean =>
  !insecure && isPlainUrl(url);

function parseRecord(path: string, text: string): IdentityRecord {
  try {
    return fileSchema.parse(JSON.parse(text));
  } catch (cause) {
    throw new IdentityError(`${path} is damaged`, { cause });
  }
}

const toIdentity = (record: IdentityRecord): Identity => ({
  nodeId: record.node_id,
  controlPlaneUrl: record.control_plane_url,
  key: createPrivateKey(record.private_key),
  isInsecure: record.insecure ?? false,
});

/**
 * Returns the fingerprint of an Ed25519 key: SHA-256 of the 32 bytes of its public half. An operator compares it before approving
 * the key.
 */
export function fingerprintOf(privateKey: KeyObject): string {
  const { x = '' } = createPublicKey(privateKey).export({ format: 'jwk' });
  return showFingerprint(createHash('sha256').update(Buffer.from(x, 'base64url')).digest('base64'));
}

/**
 * Returns the header `Authorization` of an upgrade, a proof of identity: signed, and for one use. `timeMs` is the node's estimate of the
 * server's time.
 */
export function makeProof({ nodeId, key }: Identity, timeMs: number): string {
  const claim: ProofClaim = { nodeId, timeMs, random: randomBytes(16).toString('base64url') };
  const signature = sign(null, Buffer.from(textToSign(claim)), key).toString('base64url');
  return showProof({ ...claim, signature });
}

/** Returns true for a URL without TLS to another host: `http:` or `ws:` to anything but 127.0.0.0/8, ::1 and localhost. */
export function isPlainUrl(text: string): boolean {
  const { hostname, protocol } = new URL(text.replace(/^ws/i, 'http'));
  return protocol === 'http:' && !isLoopback(hostname);
}
