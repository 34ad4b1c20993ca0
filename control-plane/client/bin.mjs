#!/usr/bin/env node
// `simrack …`: the client from its TypeScript sources.
import 'commander';
import 'ws';
import 'zod';
import { register } from 'tsx/esm/api';

// Packages are imported first: the hooks of tsx would look at each of their files, for longer than most commands take.
register();
await import('./main.ts');
