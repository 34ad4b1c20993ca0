// Several instances on one Postgres: what it costs to reach another one, and how large the service may be.
import { NatsServer } from '../dev-stack/nats.ts';
import { ScriptedLine } from '../fixtures/nodes/scripted-line.ts';
import { ScriptedNode, slotAt } from '../fixtures/nodes/scripted-node.ts';
import type { Measurement } from './report.ts';
import { benchFacts } from './scale/facts.ts';
import { benchInstanceDeath } from './scale/instance-death.ts';
import { benchMemory } from './scale/memory.ts';
import { benchPayers } from './scale/payers.ts';
import { benchRings } from './scale/rings.ts';
import { benchTexts } from './scale/texts.ts';
import { startBenchService } from './voice/voice-service.ts';

/** Each can run alone: `scale:memory`. */
export const SCALE_BENCHES = {
  'scale:across': benchAcross,
  'scale:instance-dies': benchInstanceDeath,
  'scale:memory': benchMemory,
  'scale:facts': benchFacts,
};

/** A text through the instance that has the node's link and through another one, a ring for watchers of two others, payers at all. */
async function benchAcross(): Promise<Measurement[]> {
  const nats = await NatsServer.start();
  const plane = await startBenchService({ NATS_URL: nats.url });
  try {
    const others = [await plane.beside(), await plane.beside()] as const;
    const line = new ScriptedLine(plane.url);
    line.node = await ScriptedNode.connect(plane.url, { slots: [slotAt(1)], onCommand: line.onCommand });
    const [account] = await plane.hold([String(slotAt(1).number)]);
    if (account === undefined) throw new Error('no account');
    const texts = await benchTexts([plane.url, others[0]], account);
    const rings = await benchRings(others, account, line);
    await line.node.drop();
    return [...texts, ...rings, await benchPayers([plane.url, ...others], plane)];
  } finally {
    await plane.stop();
    await nats.kill();
  }
}
