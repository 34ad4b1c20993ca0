// The commands with curl on the pages of the simulator, pasted in their order, each page into a rack of its own.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { until } from '../fixtures/until.ts';
import { quietTerminal, startRack } from '../hardware-sim/fixtures/rack.ts';
import { PROJECT_FOLDER } from '../tidy/sources.ts';
import { runExample } from './example.ts';
import { blocksOf } from './pages.ts';

/** The port of the pages. */
const PAGE_URL = 'http://127.0.0.1:8700';

interface Step {
  /** The output of curl. */
  prints: RegExp;
  /** A command that the modem `m0` gets before. */
  at?: string;
  /** It follows events: until the rack stops. */
  lasts?: true;
}

/** By page: its blocks with curl, in order. */
const PAGES: Record<string, readonly Step[]> = {
  'carrier-http.md': [
    { prints: /"slot":"m0".*"number":"\+12065550100".*"slot":"m1"/ },
    { prints: /^\{"id":1,"segments":1\}$/ },
    { prints: /^\{"id":2\b/ },
    { prints: /^\[\]$/ },
    { prints: /^event: call_alerting$.*^event: call_ended$.*^event: sim_changed$/ms, lasts: true },
    { prints: /^\{"id":1\}\{"id":1,.*"state":"alerting"/ },
    { prints: /"state":"answered"/, at: 'ATA' },
    { prints: /"state":"ended".*"ended_by":"origin"/ },
    { prints: /"answer":"busy".*"audio":"echo"/ },
    { prints: /"iccid":"8901/ },
    { prints: /m0/ },
  ],
  'faults.md': [{ prints: /"kind":"silent".*"kind":"silent".*"faults":\[\]/ }],
  'quick-start.md': [{ prints: /^\{"id":1,"segments":1\}$/ }, { prints: /"state":"unplugged"/ }],
};

for (const [page, steps] of Object.entries(PAGES))
  t.test(page, async (t) => {
    const rack = await startRack(t);
    const terminal = await quietTerminal(t, String(rack.modems[0]?.portPaths.at));
    const text = readFileSync(join(PROJECT_FOLDER, 'docs/simulator', page), 'utf8');
    const blocks = blocksOf(text).filter(({ code, language }) => language === 'sh' && /^curl /m.test(code));
    t.equal(blocks.length, steps.length);
    const lasting: Promise<unknown>[] = [];
    for (const [index, { code }] of blocks.entries()) {
      const { at, lasts, prints } = steps[index] ?? { prints: /^$/ };
      if (at !== undefined) t.match(await terminal.command(at), /OK/);
      const lines: string[] = [];
      const shell = runExample(['sh', '-euc', code.replace(PAGE_URL, rack.url)], {
        env: { PATH: String(process.env['PATH']), URL: rack.url },
        onLine: async (text) => void lines.push(text),
      });
      const checked = shell.then(({ status, stdout, stderr }) => {
        t.match(stdout, prints, code);
        t.notMatch(stdout, /"error"/, code);
        if (lasts === undefined) t.equal(status, 0, stderr);
      });
      if (lasts === undefined) await checked;
      else {
        lasting.push(checked);
        await until('it listens', () => lines.length > 0);
      }
    }
    await rack.stop();
    await Promise.all(lasting);
  });
