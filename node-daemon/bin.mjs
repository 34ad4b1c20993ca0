#!/usr/bin/env node
// `npx node-daemon …`: the program from its TypeScript sources.
import { register } from 'tsx/esm/api';

register();
await import('./main.ts');
