// The service's options about how much each number may send, and to how many. The defaults are what US carriers tolerate from people.
import { integerOption } from '#shared/process/options.ts';

export const SENDING_OPTIONS = {
  smsPerMinute: {
    env: 'SMS_PER_MINUTE',
    about: 'Texts that a number may send in a minute; 0: no limit',
    schema: integerOption(0, 10_000, 30),
  },
  smsPerDay: {
    env: 'SMS_PER_DAY',
    about: 'Texts that a number may send in 24 hours; 0: no limit',
    schema: integerOption(0, 1_000_000, 1_000),
  },
  smsRecipientsPerDay: {
    env: 'SMS_RECIPIENTS_PER_DAY',
    about: 'Different recipients that a number may text in 24 hours; 0: no limit',
    schema: integerOption(0, 1_000_000, 100),
  },
  smsRepeatedPerDay: {
    env: 'SMS_REPEATED_PER_DAY',
    about: 'Different recipients of the same text of a number in 24 hours; 0: no limit',
    schema: integerOption(0, 1_000_000, 25),
  },
  smsUnansweredPerDay: {
    env: 'SMS_UNANSWERED_PER_DAY',
    about:
      'Texts that a number may send in 24 hours in addition to SMS_PER_ANSWER for each received text; 0: no limit',
    schema: integerOption(0, 1_000_000, 100),
  },
  smsPerAnswer: {
    env: 'SMS_PER_ANSWER',
    about: 'Texts that each text received in the last 24 hours allows, in addition to SMS_UNANSWERED_PER_DAY',
    schema: integerOption(0, 1_000, 3),
  },
} as const;
