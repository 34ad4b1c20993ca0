#!/usr/bin/env node
// `npx simrack …`: the client from its TypeScript sources.
import { register } from 'tsx/esm/api';

register();
await import('./main.ts');
