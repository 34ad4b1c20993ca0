// Commands to a node whose link is at another instance: a request on the subject of the node, and its answer.
import * as z from 'zod';
import { CommandRefusal } from '#shared/link/command-refusal.ts';
import { type CommandErrorCode, commandErrorCodeSchema } from '#shared/link/frame.ts';
import { type CommandName, commandSchemas } from '#shared/link/messages.ts';
import { type Bus, type Finding, NoAnswer, NoResponder } from '../bus/bus.ts';
import { type CommandLink, NodeUnavailable } from './node-link.ts';

/** The instance with the link gives up first, and says what it knows. */
const MARGIN_MS = 1_000;

const NAMES = Object.keys(commandSchemas) as [CommandName, ...CommandName[]];

const requestSchema = z.object({
  name: z.enum(NAMES),
  params: z.unknown(),
  id: z.string().min(1).max(64),
  timeLeftMs: z.number().min(0),
  timeoutMs: z.number().min(0),
});

/** Codes that only a newer instance knows are no refusal that this one can explain. */
const answerSchema = z.union([
  z.object({ result: z.unknown() }),
  z.object({
    refused: z.object({
      code: commandErrorCodeSchema,
      message: z.string(),
      retryAfterMs: z.number().optional(),
    }),
  }),
  z.object({ unavailable: z.object({ message: z.string(), isSent: z.boolean() }) }),
]);
type Answer =
  | { result: unknown }
  | { refused: { code: CommandErrorCode; message: string; retryAfterMs: number | undefined } }
  | { unavailable: { message: string; isSent: boolean } };

const subjectOf = (nodeId: string): string => `node.${nodeId}`;

/** Asks whether an instance has the link, for a command that follows soon. */
export const findRemote = (bus: Bus, nodeId: string): Finding => bus.find(subjectOf(nodeId));

/** The link of a node, wherever it is. Without one, a command throws `NodeUnavailable`, certainly not sent. `finding`: of `findRemote`. */
export const remoteLink = (bus: Bus, nodeId: string, finding?: Finding): CommandLink => ({
  nodeId,
  async command(name, params, { timeoutMs, ...options }) {
    const request = { name, params, ...options, timeoutMs };
    const answer = await bus
      .request(subjectOf(nodeId), request, { timeoutMs: timeoutMs + MARGIN_MS, finding })
      .catch((error: unknown) => {
        if (error instanceof NoResponder) throw new NodeUnavailable('the phone node is offline', false);
        throw error instanceof NoAnswer ? new NodeUnavailable(error.message, true) : error;
      });
    return resultOf(answer) as never;
  },
});

function resultOf(answer: unknown): unknown {
  const parsed = answerSchema.safeParse(answer);
  if (!parsed.success) throw new NodeUnavailable('another version of the service answered', true);
  if ('result' in parsed.data) return parsed.data.result;
  if ('unavailable' in parsed.data) {
    const { message, isSent } = parsed.data.unavailable;
    throw new NodeUnavailable(message, isSent);
  }
  const { code, message, retryAfterMs } = parsed.data.refused;
  throw new CommandRefusal(code, message, { retryAfterMs });
}

/** Serves the commands of other instances until the returned function is called. */
export const serveRemote = (bus: Bus, link: CommandLink): (() => void) =>
  bus.serve(subjectOf(link.nodeId), (request) => answer(link, request));

async function answer(link: CommandLink, asked: unknown): Promise<Answer> {
  const request = requestSchema.safeParse(asked).data;
  const params = request && commandSchemas[request.name].safeParse(request.params).data;
  if (request === undefined || params === undefined)
    return { unavailable: { message: 'another version of the service has the link', isSent: false } };
  const { id, name, timeLeftMs, timeoutMs } = request;
  try {
    return { result: await link.command(name, params, { id, timeLeftMs, timeoutMs }) };
  } catch (error) {
    if (error instanceof CommandRefusal) {
      const { code, message, retryAfterMs } = error;
      return { refused: { code, message, retryAfterMs } };
    }
    if (!(error instanceof NodeUnavailable)) throw error;
    return { unavailable: { message: error.message, isSent: error.isSent } };
  }
}
