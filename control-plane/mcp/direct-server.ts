// A server that hands over its result as a message. The SDK would make a web response of it, with a stream of bytes that is read back into
// the same text: a fifth of a small call.
import {
  type Implementation,
  type JSONRPCMessage,
  Server,
  type ServerOptions,
  type Transport,
} from '@modelcontextprotocol/server';

/** The result of a request, which is the whole response. */
export interface DirectResult {
  message: JSONRPCMessage;
}

/** Serves one request. Everything except a result that comes first goes through the SDK's transport: errors, and streams of progress. */
export class DirectServer extends Server {
  readonly #onResult: (result: DirectResult) => void;

  constructor(info: Implementation, options: ServerOptions, onResult: (result: DirectResult) => void) {
    super(info, options);
    this.#onResult = onResult;
  }

  override connect(transport: Transport): Promise<void> {
    const send = transport.send.bind(transport);
    let isFirst = true;
    transport.send = async (message, options) => {
      const isDirect = isFirst && 'result' in message;
      isFirst = false;
      if (!isDirect) return send(message, options);
      this.#onResult({ message });
      // The SDK settles the request first: one that is under way when its server closes would be aborted.
      setImmediate(() => void this.close());
    };
    return super.connect(transport);
  }
}
