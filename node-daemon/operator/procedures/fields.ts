// The fields of operator procedures, which options of commands have, too.
import * as z from 'zod';

/** A search of all networks takes three minutes. */
export const TIMEOUT_MS_MAX = 180_000;

export const slotField = z.string().min(1).max(64);
export const timeoutField = z.int().min(100).max(TIMEOUT_MS_MAX).optional();
