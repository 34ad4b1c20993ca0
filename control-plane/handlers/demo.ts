// POST /demo: the responses of subscribing, sending and receiving, with made-up contents.
import type { AnswerOf, OPERATION } from '#shared/api/operations.ts';

/** Numbers reserved for fiction (NANP: 555-01XX). */
const NUMBER = '+12065550142';
const SENDER = '+12065550117';

const DEMO: AnswerOf<typeof OPERATION.demo> = {
  demo: true,
  simulated_subscribe: {
    token: 'simrack_demo_token_that_opens_nothing',
    number: NUMBER,
    expires_at: '2030-01-01T00:00:00.000Z',
    renewed: false,
  },
  simulated_send: { message_id: 'demo_sent_1', status: 'queued' },
  simulated_receive: {
    messages: [
      {
        id: 1,
        from_number: SENDER,
        to_number: NUMBER,
        body: 'Your verification code is 417209.',
        message_id: null,
        created_at: '2029-01-01T12:00:00.000Z',
      },
    ],
    count: 1,
  },
  note: 'This is an example: no number was assigned, and nothing was sent. To get a number, use POST /subscribe. Real answers may have more fields: `warnings` when you send, `received_at`, `opt_out_type`, `code`, `code_origin`, `code_embedded_origin`, `kind` and `mms` when you receive.',
};

export const demo = (): AnswerOf<typeof OPERATION.demo> => DEMO;
