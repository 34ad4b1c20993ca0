#!/usr/bin/env node
// `hardware-sim …`, as `npm run build` made it.
import '../shared/process/stack-traces.cjs';

await import('../dist/hardware-sim/main.js');
