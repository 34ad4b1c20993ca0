// Enrollment: makes the node's key, registers its public half with a one-time code, and saves the result. A repetition with the same code
// completes the same enrollment, wherever it was interrupted.
import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type * as z from 'zod';
import { messageOf } from '#shared/error-message.ts';
import {
  CODE_LENGTH,
  ENROLL_PATH,
  enrollAnswerSchema,
  enrollRequestSchema,
  showCode,
} from '#shared/link/enrollment.ts';
import { programCommand } from '#shared/process/commands.ts';
import { switchOption } from '#shared/process/options.ts';
import { lockFolder } from '#shared/process/single-instance.ts';
import { onLines } from '#shared/process/terminal.ts';
import { daemonOptions, dataDirOf } from '../config/options.ts';
import {
  fingerprintOf,
  type IdentityRecord,
  identityPath,
  isPlainUrl,
  readIdentityRecord,
  writePrivateFile,
} from './identity.ts';

const ANSWER_TIMEOUT_MS = 15_000;

const EXAMPLE_CODE = showCode('7KQ2M4B8XT9D3HFZW5RC');

/** The enrollment failed. The message contains the reason and the advice. */
class EnrollmentError extends Error {
  override name = 'EnrollmentError';
}

interface Enrollment {
  /** The daemon's data folder. */
  folder: string;
  /** Base URL of the control plane. */
  url: string;
  code: string;
  /** Whether URLs without TLS to other hosts are allowed. The daemon stores this. */
  isInsecure?: boolean;
  /** Whether the key that the folder has may be lost. A repetition with the same code loses none. */
  mayReplace?: boolean;
}

/** The enrolled node. */
interface EnrolledNode {
  nodeId: string;
  /** Fingerprint of its key. */
  fingerprint: string;
  /** Whether the operator must approve the key before the node may connect. */
  isPending: boolean;
}

/** Enrolls the node of a folder. Throws `EnrollmentError`. */
export async function enroll({
  folder,
  url: typedUrl,
  code: typedCode,
  isInsecure = false,
  mayReplace = false,
}: Enrollment): Promise<EnrolledNode> {
  const url = checkedUrl(typedUrl);
  if (isPlainUrl(url) && !isInsecure) {
    throw new EnrollmentError(
      `${url} has no TLS: anyone on the network could read the code and every message, and pose as the control plane. ` +
        'Use its https:// URL, or add --insecure if you control the whole network in between',
    );
  }
  const code = checkedCode(typedCode);
  // A daemon may be using the folder, but not another enrollment.
  const unlock = await lockFolder(folder, 'node-daemon enroll', 0o700);
  try {
    if (!mayReplace) refuseOther(folder, code);
    const pendingPath = join(folder, 'enrolment.json');
    const pending = { ...preparedKey(folder, pendingPath, url, code), insecure: isInsecure };
    const { node_id, approval } = await register(url, code, pending.private_key);
    writePrivateFile(identityPath(folder), { ...pending, node_id } satisfies IdentityRecord);
    rmSync(pendingPath, { force: true });
    const fingerprint = fingerprintOf(createPrivateKey(pending.private_key));
    return { nodeId: node_id, fingerprint, isPending: approval === 'pending' };
  } finally {
    await unlock();
  }
}

/** Throws `EnrollmentError` if the folder has a key that it got with another code. */
function refuseOther(folder: string, code: string): void {
  const known = readOrNothing(identityPath(folder));
  if (known === undefined || known.code_sha256 === hashOf(code)) return;
  throw new EnrollmentError(
    `${folder} is the data folder of node ${known.node_id} at ${known.control_plane_url}. ` +
      'To enroll the node of another folder, add --data-dir with that folder. ' +
      `To replace this node’s key, add --replace: the key of ${known.node_id} in this folder is then lost`,
  );
}

const hashOf = (code: string): string => createHash('sha256').update(code).digest('hex');

/** Returns the key for this code: that of an earlier attempt, or a new one, which is saved before it is sent. */
function preparedKey(folder: string, pendingPath: string, url: string, code: string): IdentityRecord {
  const codeHash = hashOf(code);
  for (const path of [identityPath(folder), pendingPath]) {
    const known = readOrNothing(path);
    if (known?.code_sha256 === codeHash) return { ...known, control_plane_url: url };
  }
  const { privateKey } = generateKeyPairSync('ed25519');
  const record: IdentityRecord = {
    node_id: 'pending',
    control_plane_url: url,
    private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    code_sha256: codeHash,
  };
  writePrivateFile(pendingPath, record);
  return record;
}

function readOrNothing(path: string): IdentityRecord | undefined {
  try {
    return readIdentityRecord(path);
  } catch {
    // The file is damaged and its key is lost. The node gets a new key with a new code.
    return undefined;
  }
}

async function register(
  url: string,
  code: string,
  privateKey: string,
): Promise<z.output<typeof enrollAnswerSchema>> {
  const publicKey = createPublicKey(createPrivateKey(privateKey)).export({ format: 'jwk' }).x;
  const response = await fetch(`${url}${ENROLL_PATH}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ code, public_key: publicKey }),
    redirect: 'manual',
    signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
  }).catch((cause: unknown) => {
    const { cause: inner } = cause as { cause?: { message?: string; code?: string } };
    if (inner?.code === 'ERR_SSL_WRONG_VERSION_NUMBER')
      throw new EnrollmentError(`${url} does not support TLS. Did you mean http://?`, { cause });
    const why = inner?.message ?? messageOf(cause);
    // The Fetch standard blocks ports of other protocols, so this one can never work.
    if (why === 'bad port')
      throw new EnrollmentError(
        `Port ${new URL(url).port} cannot be used: HTTP clients such as Node and browsers block it. Let the control plane listen on another port`,
        { cause },
      );
    throw new EnrollmentError(`${url} does not answer (${why}). Run the same command again`, { cause });
  });
  const body: unknown = await response.json().catch(() => undefined);
  if (response.ok) {
    const answer = enrollAnswerSchema.safeParse(body);
    if (answer.success) return answer.data;
    throw new EnrollmentError(`${url} sent an unexpected answer. Check that it is a control plane`);
  }
  const { message } = (body ?? {}) as { message?: string };
  const hint =
    response.status === 404 || response.status < 400 ? '. Check that it is the control plane’s base URL' : '';
  throw new EnrollmentError(message ?? `${url} answered ${response.status}${hint}`);
}

function checkedUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new EnrollmentError(`"${text}" is not an http or https URL`);
  }
  if (url.username + url.password + url.search + url.hash !== '') {
    throw new EnrollmentError('The URL must not contain a user, a query or a fragment');
  }
  return url.href.replace(/\/+$/, '');
}

function checkedCode(text: string): string {
  const parsed = enrollRequestSchema.shape.code.safeParse(text);
  if (parsed.success) return parsed.data;
  // It is not shown: it may be a code that was mistyped.
  throw new EnrollmentError(
    `This is not an enrollment code. It has ${CODE_LENGTH} letters and digits, such as ${EXAMPLE_CODE}. "control-plane node add <name>" prints a new one`,
  );
}

const { config, dataDir, defaultDataDir } = daemonOptions;

/** `node-daemon enroll <url> <code>`: the command that an operator pastes on the node. */
export const ENROLL_COMMAND = programCommand({
  usage: 'enroll <url> <code>',
  about: 'Enroll this node with a code from "control-plane node add <name>". The daemon may be running.',
  options: {
    config,
    dataDir,
    defaultDataDir,
    insecure: switchOption(
      'Allow URLs without TLS (http, ws) to other hosts, now and for the daemon; anyone on the network can then read and change all traffic',
    ),
    replace: switchOption(
      'Replace the key of a folder that is enrolled already; without it only the same code is accepted again',
    ),
  },
  async run(options, [url = '', code = '']) {
    const folder = dataDirOf(options);
    const { insecure: isInsecure, replace: mayReplace } = options;
    const { nodeId, fingerprint, isPending } = await enroll({ folder, url, code, isInsecure, mayReplace });
    const next = isPending
      ? `it connects once the operator has compared the fingerprint and run "control-plane node approve ${nodeId}"`
      : `the daemon of ${folder} connects within seconds`;
    process.stdout.write(`${onLines(`enrolled as ${nodeId}, key ${fingerprint}; ${next}`)}\n`);
  },
});
