#!/usr/bin/env node
// `control-plane …`, as `npm run build` made it.
process.setSourceMapsEnabled(true);
await import('../dist/control-plane/main.js');
