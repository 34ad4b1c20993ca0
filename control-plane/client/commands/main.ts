// The API in a terminal: one command per operation, JSON on standard output. Next to `npm start` it needs no options.
import { tolerateClosedPipes } from './output.ts';
import { runSimrack } from './run.ts';

const PARENT_CHECK_MS = 500;

tolerateClosedPipes();
if (process.env['npm_command'] === 'exec') endWithParent();

const { exitCode, isFailure } = await runSimrack(process.argv.slice(2), process.env);
process.exitCode = exitCode;
// At once: a request that was aborted may still be under way.
if (isFailure) process.exit();

/** npx passes no SIGTERM on: its shell ends, and this program would go on. */
function endWithParent(): void {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    process.kill(process.pid, 'SIGTERM');
  }, PARENT_CHECK_MS);
  timer.unref();
}
