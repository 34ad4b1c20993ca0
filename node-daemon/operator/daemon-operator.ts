// The operator API of the running daemon, over its socket.
import { SocketClient } from '#shared/operator/operator-client.ts';
import { howToGetAt } from '../system/missing-rights.ts';
import type { NodeOperator, Streams } from './node-operator.ts';
import type { PROCEDURES } from './procedures/all-procedures.ts';
import { TIMEOUT_MS_MAX } from './procedures/fields.ts';

/** The daemon may be in the middle of a compaction. */
const HELLO_TIMEOUT_MS = 10_000;
/** Longer than the longest command and the queue before it may take. */
const ANSWER_TIMEOUT_MS = TIMEOUT_MS_MAX + 60_000;

/** Undefined when no daemon listens at `socketPath`. Throws `OperatorError`. */
export async function findDaemon(socketPath: string): Promise<NodeOperator | undefined> {
  const client = new SocketClient<typeof PROCEDURES>({
    socketPath,
    program: 'the daemon',
    timeoutMs: ANSWER_TIMEOUT_MS,
    howToOpen: howToGetAt(socketPath),
  });
  if (!(await client.isThere('slots', HELLO_TIMEOUT_MS))) return undefined;
  return {
    isRunningDaemon: true,
    call: (name, input) => client.call(name, input),
    follow: <S extends keyof Streams>(stream: S, { signal, isFollowed = true }: FollowOptions) =>
      client.follow(isFollowed ? stream : `${stream}?follow=no`, signal) as AsyncIterable<Streams[S]>,
    // Each request has a connection of its own.
    close: async () => undefined,
  };
}

interface FollowOptions {
  signal: AbortSignal;
  isFollowed?: boolean;
}
