// Identifiers of SIM cards and modems.
import * as z from 'zod';

/** ITU-T E.118: the number of a SIM card, 18 to 22 digits, without a padding "F". */
export const iccidSchema = z.string().regex(/^\d{18,22}$/);

/** 3GPP TS 23.003 §6.2.1: 15 digits with the check digit, 14 without. */
export const imeiSchema = z.string().regex(/^\d{14,16}$/);
