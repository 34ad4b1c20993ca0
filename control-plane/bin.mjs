#!/usr/bin/env node
// `npx control-plane …`: the program from its TypeScript sources.
import 'kysely';
import 'viem';
import 'viem/accounts';
import 'zod';
import { register } from 'tsx/esm/api';

// The packages with the most files are imported first: the hooks of tsx would look at each file, which takes longer than all else.
register();
await import('./main.ts');
