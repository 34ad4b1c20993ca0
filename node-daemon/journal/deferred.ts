// Promises that are settled from outside.

/** Makes a promise that may be rejected without a handler. */
export function deferred(): {
  promise: Promise<void>;
  resolve: () => void;
  reject: (error: unknown) => void;
} {
  let settle: { resolve: () => void; reject: (error: unknown) => void } | undefined;
  const promise = new Promise<void>((resolve, reject) => (settle = { resolve, reject }));
  promise.catch(() => undefined);
  return { promise, resolve: () => settle?.resolve(), reject: (error) => settle?.reject(error) };
}
