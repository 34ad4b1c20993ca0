// The error of a server that cannot listen, for the person who chose its port.

/** An error that names the option of the port, such as "PORT: port 8080 is already in use". */
export function portError(option: string, port: number, cause: NodeJS.ErrnoException): Error {
  const what = cause.code === 'EADDRINUSE' ? `port ${port} is already in use` : cause.message;
  return new Error(`${option}: ${what}`, { cause });
}
