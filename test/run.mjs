// Runs compiled tests, each file in a process of its own. `tap` itself would put its loader hooks into every process, for mocks and
// coverage that no test here uses: more time than most tests take.
import { globSync } from 'glob';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { report } from '@tapjs/reporter';
import t from 'tap';
