// A service that sends alerts, for tests over hours: time passes in longer steps.
import { startAlerting } from '../../fixtures/service/alerting-service.ts';

const CHECK_MS = 10_000;
/** As often as a service checks: alerts that are due at once are sent within a minute. */
const FINE_MS = 30_000;
/** Shorter than a gap after which what was seen before does not count. */
const STEP_MS = 30_000;

type Given = Parameters<typeof startAlerting>;

/** Checks compare times: every third one finds the same. A link gets one beat in a step, as it can answer no second one. */
export async function startSwiftAlerting(t: Given[0], rig: Given[1], options: Given[2] = {}) {
  const service = await startAlerting(t, rig, { heartbeatMs: STEP_MS, ...options });
  return {
    ...service,
    async pass(ms: number): Promise<void> {
      const fineMs = Math.min(ms, FINE_MS);
      await service.pass(fineMs);
      for (let left = ms - fineMs; left > 0; left -= STEP_MS) {
        const step = Math.min(left, STEP_MS);
        if (step > CHECK_MS) service.clock.advance(step - CHECK_MS);
        await service.pass(Math.min(step, CHECK_MS));
      }
    },
  };
}
