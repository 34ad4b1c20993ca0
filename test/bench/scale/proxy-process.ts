// The round-robin proxy in a process of its own: `TARGETS` has the ports of the instances.
import { startRoundRobin } from '../../dev-stack/round-robin.ts';

const targets = String(process.env['TARGETS']).split(',').map(Number);
const { port } = await startRoundRobin(0, targets);
process.on('SIGTERM', () => process.exit());
process.stdout.write(`${JSON.stringify({ base_url: `http://127.0.0.1:${port}` })}\n`);
