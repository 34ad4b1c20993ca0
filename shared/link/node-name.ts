// The name of a node: the operator gives it, once, when the node is enrolled.
import * as z from 'zod';

export const nodeNameSchema = z.string().regex(/^[a-z0-9-]{1,32}$/, 'must be 1 to 32 of a-z, 0-9 and -');
