#!/usr/bin/env node
// `hardware-sim …`, as `npm run build` made it.
process.setSourceMapsEnabled(true);
await import('../dist/hardware-sim/main.js');
