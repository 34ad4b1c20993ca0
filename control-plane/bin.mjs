#!/usr/bin/env node
// `control-plane …`, as `npm run build` made it.
import '../shared/process/stack-traces.cjs';

await import('../dist/control-plane/main.js');
