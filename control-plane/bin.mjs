#!/usr/bin/env node
// `control-plane …`: the program from its TypeScript sources.
import 'kysely';
import 'libphonenumber-js/max';
import 'viem';
import 'viem/accounts';
import 'zod';
import { register } from 'tsx/esm/api';

// The packages with the most files are imported first: the hooks of tsx would look at each file, which takes longer than all else.
register();
await import('./main.ts');
