// The files that play against three instances, too: unchanged, each service of theirs being three behind a round robin.

/** `npm run test:long` plays these, and whatever is in these folders. */
export const AGAINST_THREE: readonly string[] = [
  'test/control-plane/alerts/delivery.test.ts',
  'test/control-plane/backup/backup.test.ts',
  'test/control-plane/console',
  'test/control-plane/handlers',
  'test/control-plane/http/revocation.test.ts',
  'test/control-plane/mail/opening.test.ts',
  'test/control-plane/mcp',
  'test/control-plane/nodes/binding.test.ts',
  'test/control-plane/payments/clients.test.ts',
  'test/control-plane/payments/race.test.ts',
  'test/control-plane/payments/reconcile.test.ts',
  'test/control-plane/voice',
  'test/end-to-end/first-sms.test.ts',
  'test/end-to-end/second-day.test.ts',
  'test/end-to-end/stopped.test.ts',
  'test/end-to-end/tool-conformance.test.ts',
  'test/end-to-end/tool-inspector.test.ts',
  'test/end-to-end/walk-through.test.ts',
  'test/integration/voice/voice-whole-way.test.ts',
];

/** `npm test` plays one of these. */
export const OFTEN_AGAINST_THREE: readonly string[] = [
  'test/control-plane/http/revocation.test.ts',
  'test/control-plane/mcp/receive-sms.test.ts',
  'test/control-plane/voice/calls.test.ts',
  'test/control-plane/voice/presence.test.ts',
];

/** Files of the folders above that do not, and why. */
export const ONLY_AGAINST_ONE: Readonly<Record<string, string>> = {
  'test/control-plane/console/across-instances.test.ts': 'has several instances of its own',
  'test/control-plane/console/csv-stream.test.ts': 'starts no service',
  'test/control-plane/console/viewers.test.ts': 'starts no service',
  'test/control-plane/mcp/direct-server.test.ts': 'starts no service',
  'test/control-plane/mcp/ended-meanwhile.test.ts': 'starts no service',
  'test/control-plane/voice/across-instances.test.ts': 'has several instances of its own',
  'test/control-plane/voice/audio-bridge.test.ts': 'starts no service',
  'test/control-plane/voice/mu-law.test.ts': 'starts no service',
  'test/control-plane/voice/live-source-detector.test.ts': 'starts no service',
  'test/control-plane/voice/slow-client.test.ts': 'starts no service',
  'test/control-plane/voice/playout-queue.test.ts': 'starts no service',
};

/** The files that play against three instances. */
export function againstThree(files: readonly string[], isWhole: boolean): string[] {
  const paths = isWhole ? AGAINST_THREE : OFTEN_AGAINST_THREE;
  return files.filter(
    (file) =>
      !(file in ONLY_AGAINST_ONE) && paths.some((path) => file === path || file.startsWith(`${path}/`)),
  );
}
