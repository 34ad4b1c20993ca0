// The answers that the served description documents for an operation.
import type { Schema } from '@cfworker/json-schema';
import { type Reference, responseOf } from '../../fixtures/service/documented-answers.ts';

interface Response {
  content?: Record<string, { schema: Schema }>;
}

interface DescribedOperation {
  operationId: string;
  parameters?: unknown[];
  requestBody?: unknown;
  responses: Record<string, Response | Reference>;
}

export interface Described {
  openapi: string;
  paths: Record<string, Record<string, DescribedOperation>>;
  components: { schemas: Record<string, Schema>; responses: Record<string, Response> };
}

/** An operation, as one asks for it. */
export interface Asked {
  id: string;
  method: string;
  path: string;
  /** It has a body or a query to get wrong. */
  hasFields: boolean;
}

/** One answer that it can be given. */
export interface Documented extends Asked {
  status: number;
  /** Undefined where the answer is no refusal. */
  code: string | undefined;
  schema: Schema;
}

export function documentedAnswers({ components, paths }: Described): Documented[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { operationId: id, parameters, requestBody, responses }]) =>
      Object.entries(responses).flatMap(([status, response]) => {
        const { content } = responseOf(response, components.responses) ?? {};
        const { schema = {} } = content?.['application/json'] ?? {};
        return codesOf(schema).map((code) => ({
          id,
          method: method.toUpperCase(),
          path,
          status: Number(status),
          code,
          schema,
          hasFields: (parameters ?? requestBody) !== undefined,
        }));
      }),
    ),
  );
}

function codesOf({ properties }: Schema): Array<string | undefined> {
  const error = properties?.['error'];
  return typeof error === 'object' && error.enum !== undefined ? error.enum : [undefined];
}

export const nameOf = ({ id, status, code }: Pick<Documented, 'id' | 'status' | 'code'>): string =>
  `${id} ${status} ${code ?? '-'}`;
