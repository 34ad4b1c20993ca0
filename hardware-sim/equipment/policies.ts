// The effect of faults on the stores of a modem and on the carrier's policies. Pure.
import { type ReportPolicy, type TimePolicy, USUAL_REPORTS, USUAL_TIME } from '../carrier/subscriber.ts';
import type { FaultSet } from '../faults/fault-set.ts';
import type { Capacities } from './message-stores.ts';

export function reportPolicyUnder(faults: FaultSet): ReportPolicy {
  const fault = faults.get('status_report');
  if (fault === undefined) return USUAL_REPORTS;
  const copies = fault.duplicated === true ? 2 : 1;
  return {
    status: fault.tp_status ?? USUAL_REPORTS.status,
    copies: fault.withheld === true ? 0 : copies,
    messageReference: fault.message_reference,
    recipientForm: fault.recipient ?? USUAL_REPORTS.recipientForm,
    followsYesterdays: fault.yesterday === true,
    comesBeforeResult: fault.before_result === true,
    serviceCentre: fault.service_centre,
  };
}

/** `nowMs` since the epoch: years have different lengths. */
export function timePolicyUnder(faults: FaultSet, nowMs: number): TimePolicy {
  const fault = faults.get('clock');
  if (fault === undefined) return USUAL_TIME;
  const shifted = new Date(nowMs);
  shifted.setUTCFullYear(shifted.getUTCFullYear() + fault.years);
  return {
    shiftMs: shifted.getTime() - nowMs,
    octets: fault.scts === undefined ? undefined : Buffer.from(fault.scts, 'hex'),
  };
}

export function capacitiesUnder(faults: FaultSet, usual: Capacities): Capacities {
  const fault = faults.get('capacity');
  if (fault === undefined) return usual;
  return { SM: fault.SM ?? usual.SM, ME: fault.ME ?? usual.ME, SR: fault.SR ?? usual.SR };
}
